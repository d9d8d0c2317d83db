package web

import (
	"regexp"
	"strings"

	"almanac/api/look"
	"almanac/catalog"
	"almanac/text/markdown"
)

// fielded are the kinds whose texts begin with fields that the page shows at its head.
var fielded = []catalog.Kind{catalog.KindCIP, catalog.KindGrant}

// field is a line of such a header: Status: Draft, or the same in a list, a table or in
// bold.
var field = regexp.MustCompile(`^[\s>|*_-]*\pL[\pL -]{1,30}[*_\s]*[:|]`)

// withoutHeader cuts the fields off the beginning of a proposal's text: a block of lines
// Name: value, which may be code or preformatted, with a heading that repeats the number
// before it. The words of that heading are returned too: links may lead to it.
func withoutHeader(s, key string) (text, heading string) {
	rest := strings.TrimLeft(s, "\n \t")
	if line, behind, ok := strings.Cut(rest, "\n"); ok && strings.HasPrefix(line, "#") && numberIn(line, key) {
		heading, rest = strings.Trim(line, "# "), strings.TrimLeft(behind, "\n \t")
	}
	var fence markdown.Fence
	fields, at := 0, 0
	for line := range strings.Lines(rest) {
		text := strings.TrimSpace(line)
		part := fence.Next(strings.TrimRight(line, "\r\n"))
		end := text == "" && part == markdown.Text && (fields > 0 || at > 0)
		if end {
			break
		}
		at += len(line)
		switch {
		case field.MatchString(line):
			fields++
		case strings.Trim(text, "|-: ") == "": // of a table
		case part == markdown.Text && text != "" && !strings.HasPrefix(text, "<") && line[0] != ' ' && line[0] != '\t':
			return s, "" // a sentence
		}
	}
	if fields < 3 {
		return s, ""
	}
	return rest[at:], heading
}

// numberIn reports whether a heading is the number of a proposal, and hardly more.
func numberIn(heading, key string) bool {
	digits := strings.TrimLeft(strings.TrimLeft(key, "ABCDEFGHIJKLMNOPQRSTUVWXYZ-"), "0")
	words := strings.FieldsFunc(heading, func(r rune) bool { return r < '0' || r > '9' })
	return len(words) > 0 && strings.TrimLeft(words[0], "0") == digits
}

// Lead is the summary of a record, unless its text begins with it.
func (v *view) Lead() string {
	lead := strings.Fields(look.Plain(v.Record.Summary))
	if v.Text != nil && len(lead) > 0 {
		start := strings.Join(strings.Fields(look.Plain(v.Text.Markdown[:min(len(v.Text.Markdown), 2000)])), " ")
		if strings.Contains(start, strings.Join(lead[:min(len(lead), leadWords)], " ")) {
			return ""
		}
	}
	return strings.Join(lead, " ")
}

// leadWords is how many words of a summary are looked for in the text.
const leadWords = 8
