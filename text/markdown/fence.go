// Package markdown reads what all layers must read alike in a Markdown text: its
// blocks, which of its lines are code between fences (CommonMark 0.31, section 4.5),
// front matter, notes and comments, what is plain text of a line, and the anchors of
// headings. It imports nothing of this module.
package markdown

import "strings"

// Fence is the fence of code that is open where a text is being read. The zero
// value is none: that is how a text begins.
type Fence struct {
	Mark string // backticks or tildes, three or more; "" for none
	Info string // what stands behind them: the language and whatever else a renderer is told
}

// Part is what a line is in a text.
type Part int

// The parts of a text.
const (
	Text    Part = iota // outside of code
	Opening             // the fence above code
	Code
	Closing // the fence below it
)

// Open returns the fence that a line outside of code opens, and whether it opens
// one. Three backticks that are closed in the same line are a span of code, which
// opens none.
//
// A fence may be indented by any depth. CommonMark allows three blanks from the
// edge of what contains the fence (an item of a list, a tab, an admonition, a
// component), and who reads lines knows nothing of containers.
func Open(line string) (Fence, bool) {
	line = strings.TrimLeft(line, " \t")
	if line == "" || line[0] != '`' && line[0] != '~' {
		return Fence{}, false
	}
	rest := strings.TrimLeft(line, line[:1])
	n := len(line) - len(rest)
	if n < 3 || line[0] == '`' && strings.Contains(rest, "`") {
		return Fence{}, false
	}
	return Fence{Mark: line[:n], Info: strings.TrimSpace(rest)}, true
}

// Closes reports whether a line closes the fence: it has as many of its
// characters or more, and nothing else.
func (f Fence) Closes(line string) bool {
	g, ok := Open(line)
	return ok && g.Info == "" && strings.HasPrefix(g.Mark, f.Mark)
}

// Next returns what the next line of a text is. From its opening line to its
// closing one f is the fence; one that nothing closes ends with the text.
func (f *Fence) Next(line string) Part {
	switch {
	case f.Mark == "":
		if open, ok := Open(line); ok {
			*f = open
			return Opening
		}
		return Text
	case f.Closes(line):
		*f = Fence{}
		return Closing
	}
	return Code
}
