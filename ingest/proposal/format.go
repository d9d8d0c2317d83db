package proposal

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"almanac/text/markdown"
	"almanac/text/markup"
)

// formats are the extensions of files that can be proposal.
var formats = []string{".md", ".markdown", ".mediawiki", ".rst", ".txt"}

// IsText reports whether a file has a format of proposal.
func IsText(file string) bool {
	return slices.Contains(formats, strings.ToLower(path.Ext(file)))
}

// asMarkdown returns a proposal's text as Markdown. A header stays a header.
func asMarkdown(file, text string) string {
	switch strings.ToLower(path.Ext(file)) {
	case ".mediawiki":
		return markup.Parse(markup.Input{Path: file, Text: text}).Body
	case ".rst":
		header, rest := splitRST(normalise(text))
		body := nest(markup.Parse(markup.Input{Path: file, Text: rest}).Body)
		if header == "" {
			return body
		}
		return "```\n" + header + "\n```\n\n" + body
	}
	return text
}

// fieldList is a line of a field list of reStructuredText.
var fieldList = regexp.MustCompile(`^:([\pL][\pL\pN -]*):(?:\s+(.*))?$`)

// fieldListFrom is how many lines may be above a field list that is a header: a
// title and comments.
const fieldListFrom = 20

// splitRST splits a header off a text in reStructuredText that would not
// survive there: lines as of a mail, which are a paragraph, and a field list,
// which is about the page. A literal block stays.
func splitRST(text string) (header, rest string) {
	lines := strings.Split(text, "\n")
	if fields, end := mailFields(lines); len(fields) > 0 {
		return fenced(lines[:end]), strings.Join(lines[end:], "\n")
	}
	start := 0
	for start < min(len(lines), fieldListFrom) && !fieldList.MatchString(lines[start]) {
		start++
	}
	var found []string
	end := start
	for ; end < min(len(lines), start+maxHeaderLines); end++ {
		if m := fieldList.FindStringSubmatch(lines[end]); m != nil {
			found = append(found, m[1]+": "+m[2])
		} else if len(found) > 0 && strings.HasPrefix(lines[end], " ") && strings.TrimSpace(lines[end]) != "" {
			found = append(found, lines[end])
		} else {
			break
		}
	}
	if fields, _ := mailFields(found); len(fields) > 0 {
		return fenced(found), strings.Join(append(lines[:start:start], lines[end:]...), "\n")
	}
	return "", text
}

// fenced returns lines that end no fence.
func fenced(lines []string) string { return strings.ReplaceAll(strings.Join(lines, "\n"), "```", "") }

// nest moves the headings of a text down by a level, below its title in the
// header, unless its only first-level heading is its title.
func nest(body string) string {
	first, deeper, titled := 0, false, false
	each := func(visit func(marks int, line string)) {
		var fence markdown.Fence
		for line := range strings.Lines(body) {
			part := fence.Next(line)
			marks := len(line) - len(strings.TrimLeft(line, "#"))
			if part != markdown.Text || !strings.HasPrefix(line[marks:], " ") {
				marks = 0
			}
			visit(marks, line)
		}
	}
	each(func(marks int, line string) {
		switch {
		case marks == 1:
			titled = titled || first == 0 && !deeper && !isSection(line)
			first++
		case marks > 1:
			deeper = true
		}
	})
	if first == 0 || first == 1 && titled && deeper {
		return body
	}
	var b strings.Builder
	each(func(marks int, line string) {
		if marks > 0 && marks < 6 {
			b.WriteByte('#')
		}
		b.WriteString(line)
	})
	return b.String()
}
