package markdown

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Cut returns the beginning of a text, at most n characters, up to the end of a
// word if one ends in its second half.
func Cut(s string, n int) string {
	end := 0
	for ; n > 0 && end < len(s); n-- {
		_, size := utf8.DecodeRuneInString(s[end:])
		end += size
	}
	if end == len(s) {
		return s
	}
	if at := strings.LastIndexByte(s[:end], ' '); at > end/2 {
		end = at
	}
	return s[:end]
}

// Clip is a text of at most n characters; an ellipsis marks that it is cut.
func Clip(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return strings.TrimRight(Cut(s, n-1), " ,;:–—-(") + "…"
}

// Words returns the runs of letters and digits of a text, in lower case.
func Words(s string) []string {
	return strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}
