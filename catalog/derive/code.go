package derive

import (
	"strings"

	"almanac/text/markdown"
)

// CodeBlock is a fenced block of code in a Markdown text.
type CodeBlock struct {
	Language string // as the text names it; "" if it does not
	Code     string // without the fence and without blank lines around it
}

// CodeBlocks returns the fenced blocks of a Markdown text in order; empty ones
// are left out, and a block whose fence is not closed ends with the text.
func CodeBlocks(text string) (all []CodeBlock) {
	for b := range markdown.Blocks(text) {
		if b.Kind == markdown.Source && strings.TrimSpace(b.Text) != "" {
			all = append(all, codeBlock(text, b))
		}
	}
	return all
}

// codeBlock returns code without the indentation of its fence.
func codeBlock(text string, b markdown.Block) CodeBlock {
	indent, _, _ := strings.Cut(text[b.Start:b.End], b.Fence.Mark)
	language, _, _ := strings.Cut(b.Fence.Info, " ")
	lines := strings.Split(b.Text, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimPrefix(strings.TrimRight(line, " \t\r"), indent)
	}
	return CodeBlock{language, strings.Trim(strings.Join(lines, "\n"), "\n")}
}
