package markup

import (
	"path"
	"regexp"
	"strings"
	"unicode"

	"almanac/text/markdown"
)

// minWords is the number of words that make a text more than a stub. Prose is
// counted by blanks, code by its identifiers.
const minWords = 25

// IsStub reports whether a Markdown-like text has hardly any content: fewer
// than 25 words outside headings, to-do items and lists of links.
func IsStub(body string) bool {
	words := 0
	var fence markdown.Fence
	for line := range strings.SplitSeq(body, "\n") {
		part := fence.Next(line)
		line = strings.TrimSpace(line)
		switch {
		case line == "" || part == markdown.Opening || part == markdown.Closing:
		case part == markdown.Code:
			words += len(strings.FieldsFunc(line, func(r rune) bool { return !unicode.IsLetter(r) }))
		case line[0] == '#' || isTask(line) || isBareLink(line):
		default:
			words += len(strings.Fields(line))
		}
		if words >= minWords {
			return false
		}
	}
	return true
}

func isTask(line string) bool {
	item := strings.TrimLeft(line, "-*> ")
	return strings.HasPrefix(item, "[ ]") || strings.HasPrefix(item, "[x]") ||
		strings.HasPrefix(strings.ToUpper(item), "TODO") || strings.HasPrefix(strings.ToUpper(item), "TBD")
}

// isBareLink reports whether a list item is only a link.
func isBareLink(line string) bool {
	return strings.HasPrefix(line, "- [") && strings.HasSuffix(line, ")") && strings.Contains(line, "](")
}

// unnumbered matches a placeholder for a number not yet assigned: "XXXX".
var unnumbered = regexp.MustCompile(`(?:^|[-_ ])0*X{2,}(?:[-_ .]|$)`)

// IsTemplate reports whether a file is a template: its name ends with the word,
// or has a placeholder for a number.
func IsTemplate(file string) bool {
	base := path.Base(file)
	base = strings.TrimSuffix(base, path.Ext(base))
	words := strings.FieldsFunc(strings.ToLower(base), func(r rune) bool { return !unicode.IsLetter(r) })
	return len(words) > 0 && words[len(words)-1] == "template" || unnumbered.MatchString(base)
}
