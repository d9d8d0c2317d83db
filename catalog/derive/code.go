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
func CodeBlocks(text string) []CodeBlock {
	_, blocks := SplitCode(text)
	return blocks
}

// SplitCode divides a Markdown text into its text without fenced blocks, line
// by line, and the blocks.
func SplitCode(text string) (prose []string, blocks []CodeBlock) {
	var fence markdown.Fence
	var indent string // of the open fence
	var block CodeBlock
	var code []string
	end := func() {
		if block.Code = strings.Trim(strings.Join(code, "\n"), "\n"); strings.TrimSpace(block.Code) != "" {
			blocks = append(blocks, block)
		}
		code = nil
	}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, " \t\r\n")
		switch fence.Next(line) {
		case markdown.Text:
			prose = append(prose, line)
		case markdown.Opening:
			indent, _, _ = strings.Cut(line, fence.Mark)
			language, _, _ := strings.Cut(fence.Info, " ")
			block = CodeBlock{Language: language}
		case markdown.Closing:
			end()
		case markdown.Code:
			code = append(code, strings.TrimPrefix(line, indent))
		}
	}
	if fence.Mark != "" {
		end()
	}
	return prose, blocks
}
