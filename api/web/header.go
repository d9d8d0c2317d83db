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
// Name: value, which may be code or preformatted, with a heading that repeats the number or
// the title before it. The words of that heading are returned too: links may lead to it.
func withoutHeader(s, key, title string) (text, heading string) {
	rest := strings.TrimLeft(s, "\n \t")
	if line, behind, ok := strings.Cut(rest, "\n"); ok && strings.HasPrefix(line, "#") {
		if words := strings.Trim(line, "# "); numberIn(line, key) || strings.EqualFold(words, title) {
			heading, rest = words, strings.TrimLeft(behind, "\n \t")
		}
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

// ruled are the formats whose tables have no line below their head in the text that is
// made of them, which Markdown wants.
var ruled = []string{"rst", "mediawiki"}

// withRules writes such lines.
func withRules(s string) string {
	var b strings.Builder
	var fence markdown.Fence
	lines := strings.SplitAfter(s, "\n")
	isRow := func(line string) bool {
		text := strings.TrimSpace(line)
		return len(text) > 1 && text[0] == '|' && text[len(text)-1] == '|'
	}
	within := false
	for i, line := range lines {
		row := fence.Next(strings.TrimRight(line, "\r\n")) == markdown.Text && isRow(line)
		b.WriteString(line)
		if begins := row && !within; begins && (i+1 == len(lines) || strings.Trim(lines[i+1], "|-: \r\n") != "" ||
			!isRow(lines[i+1])) {
			cells := strings.Count(strings.ReplaceAll(line, `\|`, ""), "|") - 1
			b.WriteString("|" + strings.Repeat("---|", cells) + "\n")
		}
		within = row
	}
	return b.String()
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
