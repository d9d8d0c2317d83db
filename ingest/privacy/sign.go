package privacy

import (
	"regexp"
	"strings"
)

// sign is an at sign.
type sign struct {
	width    int  // 0: there is none
	worded   bool // written as a word in brackets: blanks may stand around it
	doubtful bool // may mean something else
	spoken   bool // a word without brackets
}

var escapedAt = regexp.MustCompile(`^(?i:%(?:25)*40|&(?:#0*64|#x0*40|commat);|\\(?:u00|x)40)`)

// atSign returns the at sign that begins at i.
func atSign(s string, i int) sign {
	switch s[i] {
	case '@':
		return sign{width: 1}
	case '%', '&', '\\':
		return sign{width: len(escapedAt.FindString(s[i:min(len(s), i+32)]))}
	case 0xEF:
		return sign{width: max(prefixFold(s[i:], "＠"), prefixFold(s[i:], "﹫"))}
	case '(', '[', '{':
		if n := bracketed(s[i:], "at"); n > 0 {
			return sign{width: n, worded: true}
		}
		return sign{width: max(prefixFold(s[i:], "(a)"), prefixFold(s[i:], "[a]")), doubtful: true}
	case ' ':
		return sign{width: max(spoken(s[i:], "at"), spoken(s[i:], "AT")), doubtful: true, spoken: true}
	}
	return sign{}
}

// spoken returns the length of a word between one or two blanks at the start of s, 0 for none.
func spoken(s, word string) int {
	before := blanks(s)
	if n := before + len(word); before > 0 && before < 3 && strings.HasPrefix(s[before:], word) {
		if after := blanks(s[n:]); after > 0 {
			return n + after
		}
	}
	return 0
}

// blanks returns how many blanks s begins with, to three.
func blanks(s string) int {
	n := 0
	for n < len(s) && n < 3 && s[n] == ' ' {
		n++
	}
	return n
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

var escapedDot = regexp.MustCompile(`^(?i:\\\.|%(?:25)*2e|&(?:#0*46|#x0*2e|period);|\\(?:u00|x)2e)`)

// dotSign returns the length of the dot at the start of s (plain, escaped, written as a
// word or full width) and whether it may end a sentence or mean something else.
func dotSign(s string) (width int, doubtful bool) {
	if s == "" {
		return 0, false
	}
	switch s[0] {
	case '.':
		return 1, false
	case '\\', '%', '&':
		return len(escapedDot.FindString(s[:min(len(s), 32)])), false
	case '`', '*', '<':
		return len(markedDot.FindString(s[:min(len(s), near)])), true
	case 0xE3, 0xEF:
		return max(prefixFold(s, "。"), prefixFold(s, "．"), prefixFold(s, "｡")), true
	}
	word := strings.TrimLeft(s, " ")
	if blanks := len(s) - len(word); blanks <= 2 {
		if n := bracketed(word, "dot"); n > 0 {
			rest := strings.TrimLeft(word[n:], " ")
			return len(s) - len(rest), false
		}
	}
	return max(spoken(s, "dot"), spoken(s, "DOT")), true
}
