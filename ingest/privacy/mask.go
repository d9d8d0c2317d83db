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

// Mask replaces the mail addresses in a text: plain, in angle brackets, as mailto links, with the at sign
// escaped (%40, &#64;, \@), full width or written as (at), with international parts, addresses
// rewritten by mailing lists (jane=site.example@lists.example), and jane AT site DOT org.
//
// It keeps what does not end in a top-level domain of the Internet: package and action versions
// (@scope/pkg@1.2.3, setup@v4), image digests, units of systemd (wg-quick@wg0.service), files (logo@2x.png) and
// private hosts (admin@node1.internal). It also keeps logins that commands need: those of a remote path
// (user@host:path) and of a database or ssh URL, where the user is not called like a person (first.last).
func Mask(s string) string {
	if strings.Contains(s, " dot ") || strings.Contains(s, " DOT ") {
		s = spoken.ReplaceAllString(s, hidden)
	}
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

var (
	// atSign is an at sign that is escaped, of full width, or a word in brackets.
	atSign = regexp.MustCompile(
		`^(?i:＠|%(?:25)*40|&(?:#0*64|#x0*40|commat);|[(\[{] {0,2}at {0,2}[)\]}])`)
	dotSign = regexp.MustCompile(
		`^(?i:\\?\.|%(?:25)*2e|&(?:#0*46|#x0*2e|period);| {0,2}[(\[{] {0,2}dot {0,2}[)\]}] {0,2})`)
	lineBreak = regexp.MustCompile(`^[ \t]*\r?\n[ \t]*`)
	label     = regexp.MustCompile(`^[\pL\pM\pN-]+`)
	// topLevel is the top-level domain that a label begins with.
	topLevel = regexp.MustCompile(`^(?:xn--[A-Za-z0-9-]+|[A-Za-z]{2,}|[^\x00-\x7f]{2,})`)
	// named is a local part like first.last.
	named = regexp.MustCompile(`[A-Za-z][._+][A-Za-z]`)
	// spoken is an address in words. "Find us at site dot org" is none: what is before the word must be like
	// first.last, or smaller than the word.
	spoken = regexp.MustCompile(`\b(?:[A-Za-z][\w-]*(?:(?:[._+]| dot | DOT )[A-Za-z][\w-]*)+ (?:at|AT)|` +
		`[\w-]*[a-z][\w-]* AT) [\w-]+(?:(?: dot | DOT )[\w-]+)+`)
)

// nextAddress finds the first mail address with an at sign at or after an offset. In both
// directions it stops at the surrounding separators, so masking takes linear
// time on any text.
func nextAddress(s string, from int) (start, end int, ok bool) {
	for i := from; i < len(s); i++ {
		width := 0
		switch s[i] {
		case '@':
			width = 1
		case '%', '&', '(', '[', '{', 0xEF:
			width = len(atSign.FindString(s[i:min(len(s), i+32)]))
		}
		if width == 0 {
			continue
		}
		if start, end, ok := addressAt(s, from, i, i+width); ok {
			return start, end, true
		}
		from = i + width
		i = from - 1
	}
	return 0, 0, false
}

// addressAt returns the extent of the address around the at sign s[left:right].
func addressAt(s string, from, left, right int) (start, end int, ok bool) {
	if strings.IndexByte(")]}", s[right-1]) >= 0 { // blanks may stand around a word
		left = from + len(strings.TrimRight(s[from:left], " "))
		right = len(s) - len(strings.TrimLeft(s[right:], " "))
	}
	start = localStart(s, from, left)
	// Extracted text breaks long addresses after a dot. In angle brackets, or in an address
	// rewritten by a list, that dot cannot end a sentence.
	wraps := start > 0 && s[start-1] == '<' || strings.Contains(s[start:left], "=")
	end, host := domainAt(s, right, wraps)
	if start == left || end == right || remotePath.MatchString(s[host:]) || isLogin(s[:start], s[start:left]) {
		return 0, 0, false
	}
	return start, end, true
}

// localStart walks back over the local part that ends at end; end for none.
func localStart(s string, from, end int) int {
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

// domainAt returns where the mail domain that begins at start ends, or start if there is none, and where the
// name ends that it is taken from: site.org of site.org.2. If wraps is set, lines may break after dots.
func domainAt(s string, start int, wraps bool) (end, name int) {
	var labels []string
	var ends []int
	for i := start; ; {
		l := label.FindString(s[i:])
		if l == "" {
			break
		}
		i += len(l)
		labels, ends, name = append(labels, l), append(ends, i), i
		i += len(dotSign.FindString(s[i:min(len(s), i+32)]))
		if i == name {
			break
		}
		if wraps {
			i += len(lineBreak.FindString(s[i:]))
		}
	}
	if len(labels) > 1 && isNumber(strings.TrimPrefix(labels[0], "v")) && isNumber(strings.SplitN(labels[1], "-", 2)[0]) {
		return start, name // a version or an address by number
	}
	for n := len(labels) - 1; n > 0; n-- {
		last, before := labels[n], labels[n-1]
		isWord := n > 1 && isUpper(last[0]) && isLower(before[0]) // of the next sentence
		top := topLevel.FindString(last)
		rest := last[len(top):]
		if top != "" && !isWord && (rest == "" || rest[0] == '-' || top[0] < utf8.RuneSelf && rest[0] >= utf8.RuneSelf) {
			if !isTopLevel(top) {
				return start, name
			}
			return ends[n] - len(rest), name
		}
		if isLower(last[0]) {
			break
		}
	}
	return start, name
}

// isTopLevel reports whether a label is a top-level domain of the Internet, by the public suffix list: files, units of
// systemd and private hosts end otherwise.
func isTopLevel(label string) bool {
	ascii, err := idna.Lookup.ToASCII(label)
	_, known := publicsuffix.PublicSuffix("-." + ascii) // some have a rule for all names below them, but none for "-"
	return known && err == nil
}

func isUpper(b byte) bool { return 'A' <= b && b <= 'Z' }

func isLower(b byte) bool { return 'a' <= b && b <= 'z' }

func isNumber(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

var (
	// remotePath is a path on the host before it: deploy@site.org:/srv/www.
	remotePath = regexp.MustCompile(`^:(?:[~$/]|[\w.+-]{0,80}[/.]\w)`)
	// login is a URL up to its user whose user is a login and not a person.
	login = regexp.MustCompile(`(?i)(?:^|[^a-z0-9+])(?:ssh|git|git\+ssh|sftp|ftp|postgres|postgresql|mysql|mongodb|` +
		`mongodb\+srv|redis|rediss|amqp|amqps|nats)://[^\s/@]*$`)
)

// isLogin reports whether local is the user of a command or URL.
func isLogin(before, local string) bool {
	return !named.MatchString(local) && login.MatchString(before[max(0, len(before)-80):])
}
