package privacy

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/idna"
	"golang.org/x/net/publicsuffix"
)

// hidden replaces a mail address.
const hidden = "[email hidden]"

// Mask replaces the mail addresses in a text: plain, in angle brackets, as
// mailto links, with the at sign escaped (%40, &#64;, full width) or written
// as (at), with quoted or international parts, and addresses rewritten by
// mailing lists (jane=site.example@lists.example).
//
// It also hides what is an address or something else: jane @ site.org, jane(a)site.org,
// j.doe AT site DOT org, `jane`@`site.org`.
//
// It keeps what does not end in a top-level domain of the Internet, in prose as in code: package and
// action versions (@scope/pkg@1.2.3, setup@v4), image digests, units of systemd (wg-quick@wg0.service),
// names of files (logo@2x.png) and hosts (root@10.0.0.1, CLIENT@realm). It also keeps logins that
// commands need: those of a remote path (user@host:path) and of a database or ssh URL, where the user is
// not called like a person (first.last).
func Mask(s string) string {
	// Hiding one address can join the text around it into another, so repeat
	// until nothing changes; each round has fewer at signs than the last.
	for {
		masked := maskOnce(s)
		if masked == s {
			return s
		}
		s = masked
	}
}

func maskOnce(s string) string {
	var out strings.Builder
	done := 0
	for {
		start, end, ok := nextAddress(s, done)
		if !ok {
			break
		}
		out.WriteString(s[done:start])
		out.WriteString(hidden)
		done = end
	}
	if done == 0 {
		return s
	}
	out.WriteString(s[done:])
	return tidyHidden(out.String())
}

var (
	hiddenLink = regexp.MustCompile(
		`(?i)\[((?:[^\[\]]|\[email hidden\])*)\]\(<?(?:mailto:)?\[email hidden\][^)\s]*\)`)
	hiddenBracket = regexp.MustCompile(`(?i)<(?:mailto:)?\[email hidden\][^<>\s]*>`)
	hiddenPair    = regexp.MustCompile(`(?:"?\[email hidden\]"?[ \t]+)?\[email hidden\]`)
)

// tidyHidden drops the link and the brackets around a hidden address: the link
// is dead, and the brackets would be parsed as a tag.
func tidyHidden(s string) string {
	s = hiddenLink.ReplaceAllStringFunc(s, func(link string) string {
		text := strings.TrimSpace(hiddenLink.FindStringSubmatch(link)[1])
		if text == "" {
			return hidden
		}
		return text
	})
	s = hiddenBracket.ReplaceAllString(s, hidden)
	return hiddenPair.ReplaceAllString(s, hidden)
}

// nextAddress finds the first mail address at or after an offset. In both
// directions it stops at the surrounding separators, so masking takes linear
// time on any text.
func nextAddress(s string, from int) (start, end int, ok bool) {
	for i := from; i < len(s); i++ {
		if 'a' <= s[i] && s[i] <= 'z' { // most of a text
			continue
		}
		at := atSign(s, i)
		if at.width == 0 {
			continue
		}
		if start, end, ok := addressAt(s, from, i, at); ok {
			return start, end, true
		}
		from = i + at.width
		i = from - 1
	}
	return 0, 0, false
}

// addressAt returns the extent of the address around the at sign at s[i].
func addressAt(s string, from, i int, at sign) (start, end int, ok bool) {
	left, right, spaced := i, i+at.width, false
	switch {
	case at.worded:
		left = from + len(strings.TrimRight(s[from:left], " "))
		right = len(s) - len(strings.TrimLeft(s[right:], " "))
	case !at.doubtful:
		left, right, spaced = apart(s, from, left, right)
		at.doubtful = right-left > at.width
	}
	start = localStart(s, from, left)
	if start == left {
		return 0, 0, false
	}
	// Extracted text wraps long addresses after a dot. In angle brackets, or in an address
	// rewritten by a list, that dot cannot end a sentence; elsewhere it does, unless two labels
	// that are no domain of the Internet stand before it, and a small letter behind it.
	wraps := start > 0 && s[start-1] == '<' || strings.Contains(s[start:left], "=")
	labels, registered, end := domainAt(s, right, wraps, at)
	if !wraps && end == right && brokenDomain.MatchString(s[right:min(len(s), right+300)]) {
		labels, registered, end = domainAt(s, right, true, at)
	}
	if at.spoken {
		start = from + len(spokenLocal.ReplaceAllString(s[from:start], ""))
	}
	switch local := s[start:left]; {
	case end == right || at.doubtful && (!registered || local[0] == '"') ||
		isLogin(s, start, left, end) || isRemote(s, labels),
		spaced && !('a' <= local[0] && local[0] <= 'z') && !named.MatchString(local),
		at.spoken && !isSpoken(local, s[left:right], s[right:end]):
		return 0, 0, false
	}
	return start, end, true
}

// markup is what a page does not show.
const markup = "(?:[`*]{1,3}|</?[A-Za-z][^<>@]{0,40}>|<!--[^<>@]{0,40}-->)*"

var (
	markupBefore = regexp.MustCompile(markup + "$")
	markupAfter  = regexp.MustCompile("^" + markup)
	markedDot    = regexp.MustCompile("^" + markup + `\.` + markup)
	spokenLocal  = regexp.MustCompile(`(?:[A-Za-z0-9_+.-]{1,30} {1,2}(?:dot|DOT) {1,2}){1,4}$`)
	// named is a local part like first.last.
	named = regexp.MustCompile(`[A-Za-z](?:[._+]| +(?:dot|DOT) +)[A-Za-z]`)
)

// near is how far markup and words around an at sign or a dot are looked for.
const near = 120

// apart returns where the parts of an address end and begin around an at sign that blanks
// (jane @ site.org) or markup (`+"`jane`@`site.org`"+`) set apart. A blank before the sign alone belongs
// to a handle (see @site.org).
func apart(s string, from, left, right int) (before, after int, spaced bool) {
	n := blanks(s[right:])
	if after = right + n; n > 0 {
		left = from + len(strings.TrimRight(s[from:left], " "))
	}
	if after < len(s) && strings.IndexByte("`*<", s[after]) >= 0 {
		after += len(markupAfter.FindString(s[after:min(len(s), after+near)]))
	}
	if left > from && strings.IndexByte("`*>", s[left-1]) >= 0 {
		left -= len(markupBefore.FindString(s[max(from, left-near):left]))
	}
	return left, after, n > 0
}

// domainAt returns the labels of the domain at right, whether it is a registered one, and where it ends: at right
// if it is none.
func domainAt(s string, right int, wraps bool, at sign) (labels []label, registered bool, end int) {
	labels, sure := domainLabels(s, right, wraps)
	for n := len(labels); ; n-- { // as far as dots that may mean something else lead
		end = domainEnd(s, right, labels[:n])
		if registered = (at.doubtful || n > sure) && isRegistered(s, labels[:n], end); registered || n <= sure {
			return labels, registered, end
		}
	}
}

// isRegistered reports whether the domain of labels, which may be something else, ends in letters of one
// case, and is no path, call or element of something.
func isRegistered(s string, labels []label, end int) bool {
	if len(labels) < 2 || end < len(s) && strings.IndexByte("/([", s[end]) >= 0 {
		return false
	}
	last := ""
	for _, l := range labels {
		if l.start < end {
			last = s[l.start:min(l.end, end)]
		}
	}
	return last != "" && (last == strings.ToLower(last) || last == strings.ToUpper(last))
}

// isSpoken reports whether words are an address, of which two things must tell: a local
// part like a name, an AT that is written larger than what is before it, and a dot as a word.
// "Find us at site dot org" has no address.
func isSpoken(local, at, domain string) bool {
	signs := 0
	for _, sign := range []bool{
		named.MatchString(local),
		strings.TrimSpace(at) == "AT" && strings.ToUpper(local) != local,
		strings.ContainsAny(domain, " ([{"),
	} {
		if sign {
			signs++
		}
	}
	return signs > 1
}

// localStart walks back over the local part that ends at end; end for none.
func localStart(s string, from, end int) int {
	if end-1 > from && s[end-1] == '"' {
		open := strings.LastIndexByte(s[from:end-1], '"')
		quoted := s[from+open+1 : end-1]
		if open >= 0 && len(quoted) > 0 && len(quoted) <= 64 && !strings.ContainsAny(quoted, "\n<>") {
			return from + open
		}
		return end
	}
	i := end
	for i > from {
		r, size := utf8.DecodeLastRuneInString(s[from:i])
		if !isLocal(r) {
			break
		}
		i -= size
	}
	// key=jane@… is a key and an address; jane=site.example@… is one address.
	if eq := strings.LastIndexByte(s[i:end], '='); eq >= 0 && !strings.Contains(s[i+eq:end], ".") {
		i += eq + 1
	}
	for i < end && strings.IndexByte(`.-+_'%=\`, s[i]) >= 0 {
		i++
	}
	return i
}

func isLocal(r rune) bool {
	if r < utf8.RuneSelf {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' ||
			strings.ContainsRune(`._%+-='\`, r)
	}
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r))
}

// label is one part of a domain: s[start:end].
type label struct{ start, end int }

// domainEnd returns the end of the mail domain of labels that begins at start, or start
// if it is none.
func domainEnd(s string, start int, labels []label) int {
	if start < len(s) && s[start] == '[' {
		return literalEnd(s, start)
	}
	if len(labels) < 2 || isVersion(s, labels) {
		return start
	}
	for i := len(labels) - 1; i > 0 && i >= len(labels)-mostDoubted; i-- {
		last := s[labels[i].start:labels[i].end]
		if n := topLevel(last); n > 0 {
			return labels[i].start + n
		}
		if 'a' <= last[0] && last[0] <= 'z' { // else it begins a sentence or is a number
			break
		}
	}
	return start
}

// literalEnd reads an address literal: [192.0.2.1], [IPv6:2001:db8::1].
func literalEnd(s string, start int) int {
	n := strings.IndexByte(s[start:min(len(s), start+48)], ']')
	if n < 0 {
		return start
	}
	number := strings.TrimPrefix(s[start+1:start+n], "IPv6:")
	if len(number) < 3 || strings.Trim(number, "0123456789abcdefABCDEF.:") != "" ||
		!strings.ContainsAny(number, ".:") {
		return start
	}
	return start + n + 1
}

// mostDoubted is how many labels behind an address may belong to the text after it.
const mostDoubted = 8

// domainLabels returns the labels that begin at start, and how many of them are behind
// dots that mean nothing else. If wraps is set, lines may break after dots.
func domainLabels(s string, start int, wraps bool) (labels []label, sure int) {
	doubted := false
	for i := start; ; {
		begin := i
		for i < len(s) {
			r, size := utf8.DecodeRuneInString(s[i:])
			if r != '-' && (!isLocal(r) || strings.ContainsRune(`._%+='\`, r)) {
				break
			}
			i += size
		}
		if i == begin {
			return labels, sure
		}
		labels = append(labels, label{begin, i})
		if !doubted {
			sure = len(labels)
		}
		dot, doubtful := dotSign(s[i:])
		if dot == 0 {
			return labels, sure
		}
		doubted = doubted || doubtful
		if i += dot; doubted && len(labels) > sure+mostDoubted {
			return labels, sure
		}
		if wraps {
			i += len(lineBreak.FindString(s[i:]))
		}
	}
}

var brokenDomain = regexp.MustCompile(`^[\pL\d-]+(?:\.[\pL\d-]+)+\.[ \t]*\r?\n[ \t]*[a-z]`)

var lineBreak = regexp.MustCompile(`^[ \t]*\r?\n[ \t]*`)

// topLevel returns the length of the top-level domain that a label is, or begins with before a hyphen
// (com-Founder) or letters of another script (comに); 0 for none.
func topLevel(s string) int {
	for n := min(len(s), 40); n > 0; { // more bytes than any has
		ascii, err := idna.Lookup.ToASCII(s[:n])
		// A top-level domain may have a rule for all names below it alone. No rule names "-".
		if _, known := publicsuffix.PublicSuffix("-." + ascii); known && err == nil {
			return n
		}
		for n--; n > 0 && s[n] != '-' && s[n] < utf8.RuneSelf && s[n-1] < utf8.RuneSelf; {
			n--
		}
	}
	return 0
}

// isVersion reports whether a version follows the at sign: 1.2, v1.0-rc.dev. Domains such as 163.com are
// not versions.
func isVersion(s string, labels []label) bool {
	major := strings.TrimPrefix(s[labels[0].start:labels[0].end], "v")
	minor, _, _ := strings.Cut(s[labels[1].start:labels[1].end], "-")
	return isNumber(major) && isNumber(minor)
}

func isNumber(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// remotePath is a path on the host before it.
var remotePath = regexp.MustCompile(`^:(?:[~$/]|[\w.+-]{0,80}[/.]\w)`)

// isRemote reports whether a path follows the host: deploy@site.org:/srv/www.
func isRemote(s string, labels []label) bool {
	return len(labels) > 0 && remotePath.MatchString(s[labels[len(labels)-1].end:])
}

// isLogin reports whether the address is the user and host of a command or URL.
func isLogin(s string, start, left, end int) bool {
	before := s[max(0, start-80):start]
	at := strings.LastIndex(before, "://")
	isURL := at >= 0 && !strings.ContainsAny(before[at+3:], " \t\n/@")
	if local := s[start:left]; local == "git" {
		return isURL || end+1 < len(s) && (s[end] == ':' && !unicode.IsSpace(rune(s[end+1])) || s[end] == '/')
	}
	return isURL && hasLogins(before[:at]) && !named.MatchString(s[start:left])
}

// hasLogins reports whether text ends in a URL scheme whose user is a login and
// not a person.
func hasLogins(text string) bool {
	scheme := strings.ToLower(text[strings.LastIndexFunc(text, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '+'
	})+1:])
	switch scheme {
	case "ssh", "git", "git+ssh", "sftp", "ftp", "postgres", "postgresql", "mysql", "mongodb", "mongodb+srv",
		"redis", "rediss", "amqp", "amqps", "nats":
		return true
	}
	return false
}
