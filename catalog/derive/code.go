package derive

import "strings"

// CodeBlock is a fenced block of code in a Markdown text.
type CodeBlock struct {
	Language string // as the text names it; "" if it does not
	Code     string // without the fence and without blank lines around it
}

// CodeBlocks returns the fenced blocks of a Markdown text in order; empty ones
// are left out, and a block whose fence is not closed ends with the text.
func CodeBlocks(text string) []CodeBlock {
	_, blocks := splitCode(text)
	return blocks
}

// splitCode divides a Markdown text into its text without fenced blocks, line
// by line, and the blocks. A fence closes at as many of its characters as it
// opened with (CommonMark 0.31, section 4.5).
func splitCode(text string) (prose []string, blocks []CodeBlock) {
	var mark, indent string // of the open fence; "": none is open
	var block CodeBlock
	var code []string
	end := func() {
		if block.Code = strings.Trim(strings.Join(code, "\n"), "\n"); strings.TrimSpace(block.Code) != "" {
			blocks = append(blocks, block)
		}
		mark, code = "", nil
	}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, " \t\r\n")
		m := fence.FindStringSubmatch(line)
		switch {
		case mark == "" && m != nil && !strings.Contains(strings.TrimLeft(line, " \t"+m[1][:1]), "`"):
			mark, indent = m[1], line[:strings.Index(line, m[1])]
			language, _, _ := strings.Cut(strings.TrimSpace(line[len(indent)+len(mark):]), " ")
			block = CodeBlock{Language: language}
		case mark == "":
			prose = append(prose, line)
		case m != nil && strings.HasPrefix(m[1], mark) && strings.TrimSpace(line) == m[1]:
			end()
		default:
			code = append(code, strings.TrimPrefix(line, indent))
		}
	}
	if mark != "" {
		end()
	}
	return prose, blocks
}

// BestBlock returns the block that has most words of a topic, of equal ones the
// first with a language, else the first. It is the zero block if there is none.
func BestBlock(blocks []CodeBlock, topic string) CodeBlock {
	words := wordsOf(topic)
	var best CodeBlock
	most := -1
	for _, b := range blocks {
		n := 0
		text := strings.ToLower(b.Code)
		for w := range words {
			if strings.Contains(text, w) {
				n += 2
			}
		}
		if b.Language != "" {
			n++
		}
		if n > most {
			best, most = b, n
		}
	}
	return best
}
