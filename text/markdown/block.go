package markdown

import (
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Kind is what a block of a text is.
type Kind int

// The kinds of blocks.
const (
	Paragraph Kind = iota
	Heading        // with marks, or a paragraph above an underline
	Item           // of a list
	Table          // rows that begin with a bar
	Source         // code between fences
	Callout        // the line that opens or closes a note
	Rule           // a line that only draws
)

// Block is one block of a text. What is between two blocks is empty lines.
type Block struct {
	Kind Kind
	// Text is what the block says: its lines without blanks around them, quote
	// marks and the mark of an item or heading; the code as it is; the title of
	// a note.
	Text       string
	Start, End int    // bytes of the block in the text, with the end of its last line
	Indent     int    // columns in front of its first line; a tab counts as four
	Level      int    // of a heading, from 1
	Underlined bool   // a heading that is marked by the line below it
	Quoted     bool   // a paragraph whose lines begin with a quote mark
	Note       string // what kind of note a callout opens: "Warning"; "" for none
	Fence      Fence  // of code
}

// maxUnderlined is the length in characters from which a paragraph above a line
// of dashes is not a heading.
const maxUnderlined = 120

// Blocks yields the blocks of a text in order. It reads lines and knows nothing
// of containers: the second paragraph of an item is a paragraph with an
// indentation. Quoted blocks are paragraphs, unless Unquote was called before.
func Blocks(text string) iter.Seq[Block] {
	return func(yield func(Block) bool) {
		s := scanner{yield: yield}
		at, code := 0, 0
		for line := range strings.Lines(text) {
			start := at
			at += len(line)
			line = strings.TrimRight(line, " \t\r\n")
			switch s.fence.Next(line) {
			case Opening:
				s.begin(Block{Kind: Source, Start: start, Indent: columns(line), Fence: s.fence})
				code = at
			case Code:
			case Closing:
				s.code(text[code:start], at)
			case Text:
				s.line(line, start, at)
			}
			if s.stopped {
				return
			}
		}
		if s.fence.Mark != "" {
			s.code(text[code:], at)
			return
		}
		s.end()
	}
}

type scanner struct {
	yield   func(Block) bool
	stopped bool // nobody reads on
	fence   Fence
	open    *Block
	lines   []string // of the open block
}

// begin opens a block after the one that is open.
func (s *scanner) begin(b Block, lines ...string) {
	s.end()
	s.open, s.lines = &b, append(s.lines[:0], lines...)
}

// end yields the open block.
func (s *scanner) end() {
	if s.open == nil {
		return
	}
	if s.open.Kind != Source {
		s.open.Text = strings.Join(s.lines, "\n")
	}
	s.stopped = s.stopped || !s.yield(*s.open)
	s.open = nil
}

func (s *scanner) code(text string, end int) {
	s.open.Text, s.open.End = text, end
	s.end()
}

// line reads a line outside of code.
func (s *scanner) line(line string, start, end int) {
	bare := strings.TrimLeft(line, " \t")
	if bare == "" {
		s.end()
		return
	}
	b := Block{Start: start, End: end, Indent: columns(line), Quoted: bare[0] == '>'}
	text := bare
	if b.Quoted {
		text = strings.TrimLeft(bare, "> ")
	}
	open := s.open
	if n, ok := ReadNote(line); ok && (n.Fenced || n.Title == "" || open == nil || b.Quoted != open.Quoted) {
		b.Kind, b.Note = Callout, n.Kind
		s.begin(b, n.Title)
		s.end()
		return
	}
	level, title := ReadHeading(line)
	content, item := cutItem(bare)
	switch {
	case bare[0] == '|':
		if b.Kind = Table; open == nil || open.Kind != Table {
			s.begin(b)
		}
	case level > 0:
		b.Kind, b.Level = Heading, level
		s.begin(b, title)
		s.end()
		return
	case underlines(bare) > 0 && open != nil && open.Kind == Paragraph && !open.Quoted &&
		utf8.RuneCountInString(strings.Join(s.lines, " ")) < maxUnderlined:
		open.Kind, open.Level, open.Underlined, open.End = Heading, underlines(bare), true, end
		s.end()
		return
	case draws(bare):
		b.Kind = Rule
		s.begin(b)
		s.end()
		return
	case item && (content != "" || open == nil || open.Kind != Paragraph):
		b.Kind, text = Item, content
		s.begin(b)
	case open == nil || open.Kind == Table || b.Quoted != open.Quoted ||
		open.Kind == Paragraph && open.Indent > 3 && b.Indent <= 3:
		s.begin(b)
	}
	s.lines, s.open.End = append(s.lines, text), end
}

// columns is the indentation of a line; a tab counts as four.
func columns(line string) (n int) {
	for i := range len(line) {
		switch line[i] {
		case ' ':
			n++
		case '\t':
			n += 4
		default:
			return n
		}
	}
	return n
}

// ReadHeading returns the level and the text of a line that begins with the marks
// of a heading, behind three blanks at most; 0 for another line.
func ReadHeading(line string) (level int, text string) {
	bare := strings.TrimLeft(line, " ")
	if len(line)-len(bare) > 3 {
		return 0, ""
	}
	rest := strings.TrimLeft(bare, "#")
	level = len(bare) - len(rest)
	if level == 0 || level > 6 || rest != "" && rest[0] != ' ' && rest[0] != '\t' {
		return 0, ""
	}
	text = strings.TrimSpace(rest)
	if end := strings.TrimRight(text, "#"); end == "" || strings.HasSuffix(end, " ") {
		text = strings.TrimSpace(end)
	}
	return level, text
}

// cutItem cuts the mark of a list item off a line.
func cutItem(line string) (text string, ok bool) {
	rest := strings.TrimLeft(line, "0123456789")
	switch n := len(line) - len(rest); {
	case n > 3, rest == "":
		return "", false
	case n > 0:
		if rest[0] != '.' && rest[0] != ')' {
			return "", false
		}
		rest = rest[1:]
	case strings.IndexByte("-*+", rest[0]) >= 0:
		rest = rest[1:]
	case strings.HasPrefix(rest, "•"):
		rest = rest[len("•"):]
	default:
		return "", false
	}
	return strings.TrimLeft(rest, " \t"), rest == "" || rest[0] == ' ' || rest[0] == '\t'
}

// adornments are what a heading is underlined with, by its level; the last two
// are those of texts that were reStructuredText.
const adornments = "=-^\""

// underlines returns the level of the heading above a line that underlines it,
// else 0.
func underlines(line string) int {
	if len(line) < 3 || strings.Trim(line, line[:1]) != "" {
		return 0
	}
	return strings.IndexByte(adornments, line[0]) + 1
}

// draws reports whether a line only draws: a thematic break, the underline of
// what is not a heading.
func draws(line string) bool {
	return underlines(line) > 0 || strings.IndexByte("-*_", line[0]) >= 0 && strings.Count(line, line[:1]) >= 3 &&
		strings.Trim(line, line[:1]+" \t") == ""
}

// Unquote replaces the quote marks that lines begin with by blanks, so that
// nothing of the text moves.
func Unquote(text string) string {
	if !strings.Contains(text, ">") {
		return text
	}
	var b strings.Builder
	b.Grow(len(text))
	for line := range strings.Lines(text) {
		rest := strings.TrimLeft(line, " \t>")
		b.WriteString(strings.ReplaceAll(line[:len(line)-len(rest)], ">", " "))
		b.WriteString(rest)
	}
	return b.String()
}

// Cut returns the beginning of a text, at most n characters, up to the end of a
// word if one ends in its second half.
func Cut(s string, n int) string {
	end := 0
	for ; n > 0 && end < len(s); n-- {
		_, size := utf8.DecodeRuneInString(s[end:])
		end += size
	}
	if end == len(s) {
		return s
	}
	if at := strings.LastIndexByte(s[:end], ' '); at > end/2 {
		end = at
	}
	return s[:end]
}

// Clip is a text of at most n characters; an ellipsis marks that it is cut.
func Clip(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return strings.TrimRight(Cut(s, n-1), " ,;:–—-(") + "…"
}

// Words returns the runs of letters and digits of a text, in lower case.
func Words(s string) []string {
	return strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// WithoutComments returns a text without its comments, <!-- --> and, in MDX,
// {/* */}, except inside code. A comment that nothing closes is text.
func WithoutComments(text string, mdx bool) string {
	lastHTML, lastJSX := strings.LastIndex(text, "-->"), strings.LastIndex(text, "*/}")
	if lastHTML < 0 && (lastJSX < 0 || !mdx) {
		return text
	}
	var b strings.Builder
	b.Grow(len(text))
	var fence Fence
	for at := 0; at < len(text); {
		end := len(text)
		if n := strings.IndexByte(text[at:], '\n'); n >= 0 {
			end = at + n + 1
		}
		if fence.Next(text[at:end]) != Text {
			b.WriteString(text[at:end])
			at = end
			continue
		}
		at = dropFromLine(&b, text, at, end, lastHTML, lastJSX, mdx)
	}
	return b.String()
}

// dropFromLine copies text[at:end] without the comments that begin in it and
// returns where to continue, which is past end if a comment is.
func dropFromLine(b *strings.Builder, text string, at, end, lastHTML, lastJSX int, mdx bool) int {
	code := false
	for at < end {
		n := strings.IndexAny(text[at:end], "`<{")
		if n < 0 {
			break
		}
		b.WriteString(text[at : at+n])
		at += n
		closing := ""
		switch {
		case text[at] == '`':
			code = !code
		case code:
		case strings.HasPrefix(text[at:], "<!--") && at+4 <= lastHTML:
			closing = "-->"
		case mdx && strings.HasPrefix(text[at:], "{/*") && at+3 <= lastJSX:
			closing = "*/}"
		}
		if closing == "" {
			b.WriteByte(text[at])
			at++
			continue
		}
		at += 3
		at += strings.Index(text[at:], closing) + len(closing)
		if at > end {
			return at
		}
	}
	if at < end {
		b.WriteString(text[at:end])
	}
	return max(at, end)
}
