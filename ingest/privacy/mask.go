package privacy

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// hidden replaces a mail address.
const hidden = "[email hidden]"

// Mask replaces the mail addresses in a text: plain, in angle brackets, as
// mailto links, with the at sign escaped (%40, &#64;, full width) or written
// as (at), with quoted or international parts, and addresses rewritten by
// mailing lists (jane=site.example@lists.example).
//
// It keeps what only looks like an address: package and action versions
// (@scope/pkg@1.2.3, setup@v4), image digests, names without a dotted domain
// (CLIENT@realm), file names (logo@2x.png), numeric hosts (root@10.0.0.1), and
// logins that commands need: git@host:path and the user of a database or ssh
// URL.
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
		width, worded := atSign(s, i)
		if width == 0 {
			continue
		}
		if start, end, ok := addressAt(s, from, i, width, worded); ok {
			return start, end, true
		}
		from = i + width
		i = from - 1
	}
	return 0, 0, false
}

// atSign returns the length of the at sign that begins at i, 0 for none, and
// whether it is written as a word.
func atSign(s string, i int) (width int, worded bool) {
	switch s[i] {
	case '@':
		return 1, false
	case '%':
		return prefixFold(s[i:], "%40"), false
	case '&':
		return max(prefixFold(s[i:], "&#64;"), prefixFold(s[i:], "&#x40;"), prefixFold(s[i:], "&commat;")), false
	case 0xEF:
		return max(prefixFold(s[i:], "＠"), prefixFold(s[i:], "﹫")), false
	case '(', '[', '{':
		return bracketed(s[i:], "at"), true
	}
	return 0, false
}

func prefixFold(s, prefix string) int {
	if len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix) {
		return len(prefix)
	}
	return 0
}

// bracketed returns the length of a word in brackets, such as (at) or [ dot ],
// at the start of s, 0 for none.
func bracketed(s, word string) int {
	if s == "" || !strings.ContainsRune("([{", rune(s[0])) {
		return 0
	}
	i := 1
	for i < len(s) && i < 3 && s[i] == ' ' {
		i++
	}
	n := prefixFold(s[i:], word)
	if n == 0 {
		return 0
	}
	i += n
	for i < len(s) && s[i] == ' ' && i < n+5 {
		i++
	}
	if i < len(s) && strings.ContainsRune(")]}", rune(s[i])) {
		return i + 1
	}
	return 0
}

// addressAt returns the extent of the address around the at sign s[at:at+width].
func addressAt(s string, from, at, width int, worded bool) (start, end int, ok bool) {
	left, right := at, at+width
	if worded {
		for left > from && s[left-1] == ' ' {
			left--
		}
		for right < len(s) && s[right] == ' ' {
			right++
		}
	}
	start = localStart(s, from, left)
	if start == left {
		return 0, 0, false
	}
	// Extracted text wraps long addresses after a dot. Only in angle brackets, or
	// in an address rewritten by a list, can that dot not end a sentence.
	wraps := start > 0 && s[start-1] == '<' || strings.Contains(s[start:left], "=")
	end = domainEnd(s, right, wraps)
	if end == right || isLogin(s, start, left, end) {
		return 0, 0, false
	}
	return start, end, true
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

// domainEnd returns the end of the mail domain that begins at start, or start
// if there is none. If wraps is set, lines may break after its dots.
func domainEnd(s string, start int, wraps bool) int {
	if start < len(s) && s[start] == '[' {
		return literalEnd(s, start)
	}
	labels := domainLabels(s, start, wraps)
	if len(labels) < 2 || isVersion(s, labels) || isFile(s, labels) {
		return start
	}
	for i := len(labels) - 1; i > 0; i-- {
		if n := topLevel(s[labels[i].start:labels[i].end]); n > 0 {
			return labels[i].start + n
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

func domainLabels(s string, start int, wraps bool) []label {
	var labels []label
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
			return labels
		}
		labels = append(labels, label{begin, i})
		dot := dotSign(s[i:])
		if dot == 0 {
			return labels
		}
		i += dot
		if wraps {
			i += len(lineBreak.FindString(s[i:]))
		}
	}
}

var lineBreak = regexp.MustCompile(`^[ \t]*\r?\n[ \t]*`)

// dotSign returns the length of the dot at the start of s: plain, escaped or
// written as a word.
func dotSign(s string) int {
	switch {
	case s == "":
		return 0
	case s[0] == '.':
		return 1
	case s[0] == '\\' || s[0] == '%':
		return max(prefixFold(s, `\.`), prefixFold(s, "%2e"))
	}
	word := strings.TrimLeft(s, " ")
	if blanks := len(s) - len(word); blanks <= 2 {
		if n := bracketed(word, "dot"); n > 0 {
			rest := strings.TrimLeft(word[n:], " ")
			return len(s) - len(rest)
		}
	}
	return 0
}

// topLevel returns the length of the top-level domain at the start of a label,
// which may have a suffix (com-Founder); 0 for none.
func topLevel(s string) int {
	if prefixFold(s, "xn--") > 0 && len(s) > 4 {
		return len(s)
	}
	s, _, _ = strings.Cut(s, "-")
	if utf8.RuneCountInString(s) < 2 {
		return 0
	}
	for _, r := range s {
		if !unicode.IsLetter(r) && !unicode.IsMark(r) {
			return 0
		}
	}
	return len(s)
}

// isVersion reports whether a version follows the at sign: 1.2.3, v1.4, 1.x.y.
// Domains such as 163.com are not versions.
func isVersion(s string, labels []label) bool {
	major := strings.TrimPrefix(strings.ToLower(s[labels[0].start:labels[0].end]), "v")
	minor := strings.ToLower(s[labels[1].start:labels[1].end])
	if minor == "x" {
		return isNumber(major)
	}
	minor, _, _ = strings.Cut(minor, "-")
	return isNumber(major) && isNumber(minor)
}

func isNumber(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// isFile reports whether the domain ends like a file name, in an extension
// that is not a top-level domain.
func isFile(s string, labels []label) bool {
	last := labels[len(labels)-1]
	switch strings.ToLower(s[last.start:last.end]) {
	case "png", "jpg", "jpeg", "gif", "svg", "webp", "ico", "css", "js", "ts", "jsx", "tsx", "mjs",
		"json", "yaml", "yml", "toml", "xml", "html", "htm", "mdx", "rst", "txt", "csv", "pdf",
		"pem", "crt", "key", "jar", "tgz", "gz", "lock", "log", "sum":
		return true
	}
	return false
}

// isLogin reports whether the address is the user and host of a command or URL.
func isLogin(s string, start, left, end int) bool {
	before := s[max(0, start-80):start]
	at := strings.LastIndex(before, "://")
	isURL := at >= 0 && !strings.ContainsAny(before[at+3:], " \t\n/@")
	if s[start:left] == "git" {
		return isURL || end+1 < len(s) && (s[end] == ':' && !unicode.IsSpace(rune(s[end+1])) || s[end] == '/')
	}
	return isURL && hasLogins(before[:at])
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
