package snippet

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"almanac/text/markdown"
)

// tidy makes a passage's text readable: prose becomes one line per paragraph, list item
// or table row, without the marks of Markdown, code between fences keeps its lines and
// each is a span of code. Left out is what nobody reads as a sentence: fields, rules
// between parts, empty lines. A text of nothing else stays as it is.
func tidy(text string) string {
	if short := tidied(text, false); short != "" {
		return short
	}
	return tidied(text, true)
}

func tidied(text string, all bool) string {
	var b strings.Builder
	b.Grow(len(text))
	var fence markdown.Fence
	var block []string // lines of prose or of code
	code := false
	flush := func() {
		if all || !isFields(block) {
			for i, line := range block {
				if code {
					writeCode(&b, line)
				} else {
					writeProse(&b, line, i == 0)
				}
			}
		}
		block = block[:0]
	}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, " \t\r\n")
		part := fence.Next(line)
		if is := part == markdown.Code; is != code || part == markdown.Opening || part == markdown.Closing ||
			!is && line == "" {
			flush()
			code = is
		}
		if line != "" && part != markdown.Opening && part != markdown.Closing {
			block = append(block, line)
		}
	}
	flush()
	return b.String()
}

func newline(b *strings.Builder) {
	if b.Len() > 0 {
		b.WriteByte('\n')
	}
}

// writeCode writes a line of code as a span.
func writeCode(b *strings.Builder, line string) {
	newline(b)
	mark := "`"
	if strings.Contains(line, mark) {
		mark = ""
	}
	b.WriteString(mark)
	squeeze(b, strings.TrimSpace(line))
	b.WriteString(mark)
}

// writeProse writes a line of a paragraph without its marks.
func writeProse(b *strings.Builder, line string, first bool) {
	bare := strings.TrimLeft(line, " \t>")
	if note, ok := markdown.ReadNote(line); ok {
		bare, first = note.Title, true
	}
	if bare == "" || strings.Trim(bare, "-=*_~+#|: ") == "" || strings.HasPrefix(bare, ".. ") {
		return
	}
	switch {
	case item(bare):
		first = true
		if bare[0] != '|' && bare[1] == ' ' {
			bare = strings.TrimLeft(bare[2:], " ")
			bare = strings.TrimPrefix(strings.TrimPrefix(bare, "[ ] "), "[x] ")
		}
		bare = row(bare)
	case bare[0] == '#':
		first = true
		bare = strings.TrimLeft(bare, "# ")
	}
	if strings.ContainsAny(bare, "[<*_\\&") || strings.Contains(bare, ":`") {
		bare = markdown.Prose(bare)
	}
	if bare == "" {
		return
	}
	if first {
		newline(b)
	} else if b.Len() > 0 {
		b.WriteByte(' ')
	}
	squeeze(b, bare)
}

// row returns the cells of a row of a table; another line is returned as it is.
func row(line string) string {
	inside, ok := strings.CutPrefix(line, "|")
	if !ok {
		return line
	}
	var cells []string
	for cell := range strings.SplitSeq(inside, "|") {
		if cell = strings.TrimSpace(cell); cell != "" {
			cells = append(cells, cell)
		}
	}
	return strings.Join(cells, ", ")
}

// item reports whether a line of prose begins a list item or a row of a table.
func item(line string) bool {
	switch {
	case line[0] == '|':
		return true
	case len(line) > 1 && line[1] == ' ':
		return line[0] == '-' || line[0] == '*' || line[0] == '+'
	}
	n := strings.IndexFunc(line, func(r rune) bool { return r < '0' || r > '9' })
	return n > 0 && n+1 < len(line) && (line[n] == '.' || line[n] == ')') && line[n+1] == ' '
}

// squeeze writes a line with runs of white space, control characters and
// broken bytes as one space.
func squeeze(b *strings.Builder, line string) {
	if plain(line) {
		b.WriteString(line)
		return
	}
	space := false
	for _, r := range line {
		if unicode.IsSpace(r) || unicode.IsControl(r) || r == utf8.RuneError {
			space = true
			continue
		}
		if space {
			b.WriteByte(' ')
			space = false
		}
		b.WriteRune(r)
	}
}

// plain reports whether a line is printable ASCII, with single spaces at most.
func plain(line string) bool {
	before := byte(0)
	for i := range len(line) {
		c := line[i]
		if c < ' ' || c > '~' || c == ' ' && before == ' ' {
			return false
		}
		before = c
	}
	return true
}
