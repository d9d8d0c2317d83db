package derive

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"almanac/text/markdown"
)

// note is one statement of release notes: a paragraph or a list item.
type note struct {
	headings []string // headings above it, outermost first
	parents  []int    // list items and lead-ins above it, outermost first
	item     bool     // a list item
	raw      string   // as written, on one line
	text     string   // without markup
}

var (
	quoteMark   = regexp.MustCompile(`^[ \t>]*>`)
	alert       = regexp.MustCompile(`(?i)^\[!(warning|important|caution|note|tip)\]\s*`)
	directiveOf = regexp.MustCompile(`(?i)^\.\.\s+(warning|important|attention|danger|caution|note)::\s*`)
	itemMark    = regexp.MustCompile(`^(?:[-*+•]|\d{1,3}[.)])(?:\s+|$)`)
)

// readNotes splits release notes, in Markdown or converted reStructuredText,
// into statements. It skips code, tables and comments.
func readNotes(body string) []note {
	r := &notesReader{}
	body = comment.ReplaceAllString(strings.ToValidUTF8(body, "\uFFFD"), "")
	for line := range strings.Lines(body) {
		r.line(strings.TrimRight(line, " \t\r\n"))
	}
	r.end()
	return r.notes
}

type notesReader struct {
	notes    []note
	headings []heading
	open     strings.Builder // the statement being read
	indent   int             // of the open statement
	isItem   bool
	stack    []level // possible parents of the next statement
	fence    markdown.Fence
}

type heading struct {
	level int
	title string
}

// level is a statement and the indentation at which others become its children.
type level struct {
	indent, note int
	lead         bool // a paragraph that introduces a list
}

func (r *notesReader) line(line string) {
	if m := quoteMark.FindString(line); m != "" { // a quote mark only indents
		line = strings.ReplaceAll(m, ">", " ") + line[len(m):]
	}
	text := strings.TrimLeft(line, " \t")
	indent := len(strings.ReplaceAll(line[:len(line)-len(text)], "\t", "    "))
	if r.fence.Next(line) != markdown.Text {
		r.end()
		return
	}
	switch {
	case text == "" || text[0] == '|':
		r.end()
		return
	case indent <= 3 && match(atxHeading, text, text, "#") != nil:
		m := atxHeading.FindStringSubmatch(text)
		r.heading(len(m[1]), m[2])
		return
	case match(underline, text, text, "=-~^\"") != nil:
		r.underlined(text)
		return
	}
	if m := itemMark.FindString(text); m != "" {
		r.begin(indent, true)
		text = text[len(m):]
	} else if r.open.Len() == 0 {
		r.begin(indent, false)
	}
	for _, re := range []*regexp.Regexp{alert, directiveOf} {
		if m := re.FindStringSubmatch(text); m != nil {
			text = m[1] + ": " + text[len(m[0]):]
		}
	}
	if strings.HasPrefix(text, ".. ") {
		return // another directive
	}
	if r.open.Len() > 0 {
		r.open.WriteByte(' ')
	}
	r.open.WriteString(text)
}

// begin opens a statement.
func (r *notesReader) begin(indent int, item bool) {
	r.end()
	r.indent, r.isItem = indent, item
	for n := len(r.stack); n > 0; n = len(r.stack) {
		if l := r.stack[n-1]; l.indent < indent || l.indent == indent && (item || !l.lead) {
			return
		}
		r.stack = r.stack[:n-1]
	}
}

// end closes the open statement.
func (r *notesReader) end() {
	raw := strings.TrimSpace(r.open.String())
	r.open.Reset()
	text := Inline(raw)
	if text == "" {
		return
	}
	if m := boldTitle.FindStringSubmatch(raw); m != nil && !r.isItem && !strings.HasSuffix(text, ":") &&
		len(r.stack) == 0 {
		r.heading(7, m[1])
		return
	}
	n := note{item: r.isItem, raw: raw, text: text}
	for _, h := range r.headings {
		n.headings = append(n.headings, h.title)
	}
	for _, l := range r.stack {
		n.parents = append(n.parents, l.note)
	}
	r.notes = append(r.notes, n)
	switch at := len(r.notes) - 1; {
	case r.isItem:
		r.stack = append(r.stack, level{r.indent + 1, at, false})
	case strings.HasSuffix(text, ":"):
		r.stack = append(r.stack, level{r.indent, at, true})
	}
}

func (r *notesReader) heading(level int, title string) {
	r.end()
	r.stack = nil
	for n := len(r.headings); n > 0 && r.headings[n-1].level >= level; n = len(r.headings) {
		r.headings = r.headings[:n-1]
	}
	if title = Inline(title); title != "" {
		r.headings = append(r.headings, heading{level, title})
	}
}

// underlined turns the open line into the heading that its underline makes it.
func (r *notesReader) underlined(line string) {
	title := strings.TrimSpace(r.open.String())
	if title == "" || r.isItem || utf8.RuneCountInString(title) >= 120 {
		r.end()
		return
	}
	r.open.Reset()
	depth := 1 + strings.IndexByte("=-~^\"", line[0])
	r.heading(depth, title)
}
