package markup

import "strings"

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
