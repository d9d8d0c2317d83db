package snippet

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"almanac/text/markdown"
)

// tidy makes a passage's text readable: prose becomes one line per paragraph,
// list item or table row, code between fences keeps its lines and up to eight
// characters of indentation; fences and empty lines are dropped.
func tidy(text string) string {
	var b strings.Builder
	b.Grow(len(text))
	var fence markdown.Fence
	broken := true // whether a line must begin
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, " \t\r\n")
		bare := strings.TrimLeft(line, " \t")
		part := fence.Next(line)
		code := part == markdown.Code
		if bare == "" || part == markdown.Opening || part == markdown.Closing {
			broken = true
			continue
		}
		if code || broken || item(bare) {
			newline(&b)
		} else {
			b.WriteByte(' ')
		}
		if code {
			indent := min(len(line)-len(bare), 8)
			b.WriteString("        "[:indent])
		}
		squeeze(&b, bare)
		broken = code
	}
	return b.String()
}

func newline(b *strings.Builder) {
	if b.Len() > 0 {
		b.WriteByte('\n')
	}
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
