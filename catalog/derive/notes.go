package derive

import (
	"regexp"
	"strings"

	"almanac/text/markdown"
	"almanac/text/prose"
)

// Longer headings and statements are cut, so that no text of a stranger costs more than its size: each
// statement is read with the headings above it, and each date of a statement with the words before it.
const (
	maxHeading = 300  // bytes
	maxNote    = 4096 // bytes
)

// note is one statement of release notes: a paragraph or a list item.
type note struct {
	headings []string // headings above it, outermost first
	parents  []int    // list items and lead-ins above it, outermost first
	item     bool     // a list item
	raw      string   // as written, on one line
	text     string   // without markup
}

var directiveOf = regexp.MustCompile(`(?i)^\.\.\s+(warning|important|attention|danger|caution|note)::\s*`)

// readNotes splits release notes, in Markdown or converted reStructuredText,
// into statements. It skips code, tables and comments. It takes time linear in their size.
func readNotes(body string) []note {
	r := &notesReader{}
	body = markdown.WithoutComments(strings.ToValidUTF8(body, "\uFFFD"), false)
	for b := range markdown.Blocks(markdown.Unquote(body)) {
		r.block(b)
	}
	return r.notes
}

type notesReader struct {
	notes    []note
	headings []heading
	admonish string  // what kind of note the next statement is in
	stack    []level // possible parents of the next statement
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

func (r *notesReader) block(b markdown.Block) {
	switch b.Kind {
	case markdown.Heading:
		r.heading(b.Level, b.Text)
	case markdown.Callout:
		r.admonish = ""
		for _, words := range []string{b.Note, b.Text} {
			if words != "" {
				r.admonish += words + ": "
			}
		}
	case markdown.Paragraph, markdown.Item:
		var lines []string
		for line := range strings.SplitSeq(b.Text, "\n") {
			if m := directiveOf.FindStringSubmatch(line); m != nil {
				line = m[1] + ": " + line[len(m[0]):]
			}
			if !strings.HasPrefix(line, ".. ") { // another directive
				lines = append(lines, line)
			}
		}
		r.begin(b.Indent, b.Kind == markdown.Item)
		r.statement(b, strings.TrimSpace(strings.Join(lines, " ")))
	}
}

// begin leaves the parents of a statement on the stack.
func (r *notesReader) begin(indent int, item bool) {
	for n := len(r.stack); n > 0; n = len(r.stack) {
		if l := r.stack[n-1]; l.indent < indent || l.indent == indent && (item || !l.lead) {
			return
		}
		r.stack = r.stack[:n-1]
	}
}

func (r *notesReader) statement(b markdown.Block, raw string) {
	text, item := markdown.Inline(raw), b.Kind == markdown.Item
	if text == "" {
		return
	}
	if m := boldTitle.FindStringSubmatch(raw); m != nil && !item && !strings.HasSuffix(text, ":") && len(r.stack) == 0 {
		r.heading(7, m[1])
		return
	}
	n := note{item: item, raw: prose.FirstBytes(r.admonish+raw, maxNote), text: prose.FirstBytes(r.admonish+text, maxNote)}
	r.admonish = ""
	for _, h := range r.headings {
		n.headings = append(n.headings, h.title)
	}
	for _, l := range r.stack {
		n.parents = append(n.parents, l.note)
	}
	r.notes = append(r.notes, n)
	switch at := len(r.notes) - 1; {
	case item:
		r.stack = append(r.stack, level{b.Indent + 1, at, false})
	case strings.HasSuffix(text, ":"):
		r.stack = append(r.stack, level{b.Indent, at, true})
	}
}

func (r *notesReader) heading(level int, title string) {
	r.stack, r.admonish = nil, ""
	for n := len(r.headings); n > 0 && r.headings[n-1].level >= level; n = len(r.headings) {
		r.headings = r.headings[:n-1]
	}
	if title = markdown.Inline(title); title != "" {
		r.headings = append(r.headings, heading{level, prose.FirstBytes(title, maxHeading)})
	}
}
