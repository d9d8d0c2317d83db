package markup

import "strings"

// fenceMark is the code fence around the current line; zero if there is none.
type fenceMark struct {
	char  byte
	count int
}

func (f fenceMark) open() bool { return f.count > 0 }

// next returns the state after line. A fence opens at three or more backticks
// or tildes at any indentation, and closes at as many of the same with nothing
// after them.
func (f fenceMark) next(line string) fenceMark {
	line = strings.TrimLeft(line, " \t")
	if len(line) < 3 || line[0] != '`' && line[0] != '~' {
		return f
	}
	rest := strings.TrimLeft(line, line[:1])
	count := len(line) - len(rest)
	switch {
	case count < 3:
		return f
	case !f.open():
		if line[0] == '`' && strings.Contains(rest, "`") {
			return f // an inline code span
		}
		return fenceMark{line[0], count}
	case line[0] == f.char && count >= f.count && strings.TrimSpace(rest) == "":
		return fenceMark{}
	}
	return f
}

// writeFence writes code as a fenced block with enough backticks around it.
func writeFence(b *strings.Builder, info string, lines []string) {
	for len(lines) > 0 && strings.TrimSpace(lines[len(lines)-1]) == "" {
		lines = lines[:len(lines)-1]
	}
	for len(lines) > 0 && strings.TrimSpace(lines[0]) == "" {
		lines = lines[1:]
	}
	if len(lines) == 0 {
		return
	}
	fence := "```"
	for _, line := range lines {
		t := strings.TrimLeft(line, " \t")
		if n := len(t) - len(strings.TrimLeft(t, "`")); n >= len(fence) {
			fence = strings.Repeat("`", n+1)
		}
	}
	b.WriteString("\n" + fence + info + "\n")
	indent := commonIndent(lines)
	for _, line := range lines {
		b.WriteString(cutIndent(line, indent))
		b.WriteByte('\n')
	}
	b.WriteString(fence + "\n")
}

// indentOf counts leading blanks; a tab counts as one.
func indentOf(line string) int { return len(line) - len(strings.TrimLeft(line, " \t")) }

func commonIndent(lines []string) int {
	indent := -1
	for _, line := range lines {
		if strings.TrimSpace(line) != "" && (indent < 0 || indentOf(line) < indent) {
			indent = indentOf(line)
		}
	}
	return max(indent, 0)
}

func cutIndent(line string, n int) string { return line[min(n, indentOf(line)):] }
