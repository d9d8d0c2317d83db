package passage

import (
	"slices"
	"strings"

	"almanac/catalog"
	"almanac/text/markdown"
)

// document is a parsed body.
type document struct {
	text     string    // the body, valid
	sections []section // the first is what precedes the first heading
	units    []unit
}

// section is the text between one heading and the next.
type section struct {
	heading    string
	level      int // of the heading, from 1; 0 for the first section
	parent     int // index of the section that contains it, -1 for the first
	anchor     string
	hidden     bool // the heading repeats the title
	words      int  // of its own text
	pathPieces int  // of its heading path

	name       string // that readers name it by, unique
	start, end int    // its heading and its own text, bytes of the document's
	size       int    // characters, with the sections in it
	last       int    // index of the last section in it, or its own
	parts      []int  // see parts; nil: not computed
}

// maxHeading is the length in bytes from which a heading is taken for a paragraph.
const maxHeading = 250

// parse reads a body as markdown: headings with marks, fenced code, tables and
// paragraphs. Everything else is a paragraph, up to an empty line.
func parse(title, body string) *document {
	p := parser{document: &document{text: valid(body), sections: []section{{parent: -1}}},
		title: strings.TrimSpace(title), anchors: markdown.Anchors{}}
	for b := range markdown.Blocks(p.text) {
		if b.Start > p.at {
			p.block(nil)
		}
		p.at = b.Start
		switch {
		case b.Kind == markdown.Source:
			p.block(nil)
			p.code(b)
		case b.Kind == markdown.Heading && !b.Underlined && b.Text != "" &&
			len(strings.TrimSpace(p.text[b.Start:b.End])) <= maxHeading:
			p.block(nil)
			p.heading(b)
		default:
			for line := range strings.Lines(p.text[b.Start:b.End]) {
				p.line(strings.TrimRight(line, " \t\r\n"))
				p.at += len(line)
			}
		}
		p.at = b.End
	}
	p.block(nil)
	p.at = len(p.text)
	p.endSection()
	p.measure()
	return p.document
}

type parser struct {
	*document
	title   string
	anchors markdown.Anchors
	at      int      // where the current line begins
	lines   []string // of the current block
	begun   int      // where it begins
	table   bool     // it is a table
}

func (p *parser) add(line string) {
	if len(p.lines) == 0 {
		p.begun = p.at
	}
	p.lines = append(p.lines, line)
}

// line reads a line outside of code that is not a heading.
func (p *parser) line(line string) {
	bare := strings.TrimSpace(line)
	if note, ok := markdown.ReadNote(line); ok {
		line = note.String()
	}
	if table := strings.HasPrefix(bare, "|"); table != p.table {
		p.block(nil)
		p.table = table
	}
	if ruler(bare) {
		return
	}
	if text := inline(line); strings.TrimSpace(text) != "" {
		p.add(text)
	}
}

// code reads fenced code.
func (p *parser) code(b markdown.Block) {
	p.at += strings.IndexByte(p.text[b.Start:b.End]+"\n", '\n') + 1
	for line := range strings.Lines(b.Text) {
		p.add(strings.TrimRight(line, " \t\r\n"))
		p.at += len(line)
	}
	p.block(new(b.Fence))
}

// block ends the current block; f is its fence if it is code. A table is code
// without marks.
func (p *parser) block(f *markdown.Fence) {
	text := strings.Trim(strings.Join(p.lines, "\n"), "\n")
	p.lines = p.lines[:0]
	if f == nil && p.table {
		f = &markdown.Fence{}
	}
	p.table = false
	if strings.TrimSpace(text) == "" && (f == nil || f.Info == "") {
		return
	}
	u := newUnit(len(p.sections)-1, text, f)
	u.first, u.start, u.end = true, p.begun, p.at
	p.units = append(p.units, u)
	p.sections[u.section].words += u.words
}

// heading begins a section.
func (p *parser) heading(b markdown.Block) {
	text := strings.TrimSpace(inline(b.Text))
	if text == "" {
		return
	}
	if b.Level <= p.sections[len(p.sections)-1].level {
		p.endSection()
	}
	text, anchor := cutAnchor(text)
	s := section{heading: text, level: b.Level, parent: len(p.sections) - 1, start: b.Start}
	for p.sections[s.parent].level >= b.Level {
		s.parent = p.sections[s.parent].parent
	}
	s.anchor = p.anchors.Add(anchor, text)
	s.hidden = strings.EqualFold(text, p.title)
	s.pathPieces = p.sections[s.parent].pathPieces
	if !s.hidden {
		s.pathPieces += pieceCount(text)
	}
	p.sections = append(p.sections, s)
}

// endSection ends a section that contains no other. If it has no text it gets
// an empty unit, so that its heading is found.
func (p *parser) endSection() {
	i := len(p.sections) - 1
	if i > 0 && (len(p.units) == 0 || p.units[len(p.units)-1].section != i) {
		u := unit{section: i, first: true, start: p.sections[i].start, end: p.at, words: WordCount(p.sections[i].heading),
			pieces: pieceCount(p.sections[i].heading)}
		p.units = append(p.units, u)
	}
}

// related reports whether two sections, in this order, belong together: they
// have the same parent, or the first contains the second.
func (d *document) related(a, b int) bool {
	for i := b; i >= 0; i = d.sections[i].parent {
		if i == a {
			return true
		}
	}
	return d.sections[a].parent == d.sections[b].parent
}

// near reports whether two sections are related or one is related to the parent of the other.
func (d *document) near(a, b int) bool {
	pa, pb := d.path(a), d.path(b)
	return len(common(pa, pb)) >= min(len(pa), len(pb))-1
}

// path returns the sections that contain section i and itself, outermost first;
// the first is the whole page.
func (d *document) path(i int) []int {
	var path []int
	for ; i >= 0; i = d.sections[i].parent {
		path = append(path, i)
	}
	slices.Reverse(path)
	return path
}

func common(a, b []int) []int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return a[:n]
}

// render writes units as one passage. Headings that all its sections share are
// its path, the others are in the text above their sections. before is the section
// that the passage before ends in, −1 for the first.
func (d *document) render(units []unit, before int) Piece {
	shared := d.path(units[0].section)
	for _, u := range units[1:] {
		shared = common(shared, d.path(u.section))
	}
	var b strings.Builder
	written := map[int]bool{}
	for _, i := range shared {
		written[i] = true
	}
	var open *markdown.Fence
	var p Piece
	if units[0].section == before || units[0].section == 0 {
		p.Places = append(p.Places, d.place(units[0].section, units[0], 0))
	}
	for _, u := range units {
		if open != nil && u.fence != open {
			b.WriteString(closing(open))
			open = nil
		}
		for _, i := range d.path(u.section) {
			if i > max(before, 0) { // sections are numbered in the order in which they begin
				p.Places = append(p.Places, d.place(i, u, b.Len()))
				p.Headings = append(p.Headings, d.sections[i].heading)
			}
			if !written[i] && !d.sections[i].hidden {
				separate(&b, "\n\n")
				b.WriteString(d.sections[i].heading)
			}
			written[i] = true
		}
		before = u.section
		if u.text == "" && u.fence == nil {
			continue // only a heading
		}
		if u.fence == nil || u.fence != open {
			if u.first || u.fence != nil {
				separate(&b, "\n\n")
			} else {
				separate(&b, u.join)
			}
			b.WriteString(opening(u))
			open = u.fence
		} else {
			b.WriteString(u.join)
		}
		b.WriteString(u.text)
	}
	b.WriteString(closing(open))
	text := b.String()
	p.Anchor, p.Section, p.Heading = d.sections[units[0].section].anchor, d.reading(shared, units), d.headings(shared)
	p.Text = strings.TrimSpace(text)
	if len(p.Places) < 2 {
		p.Places = nil
	}
	trimmed := strings.Index(text, p.Text)
	for i := range p.Places {
		p.Places[i].At = max(0, p.Places[i].At-trimmed)
	}
	if p.Text == "" {
		p.Text = d.sections[units[0].section].heading
	}
	return p
}

// place returns where the heading of section i leads to, which heads a unit.
func (d *document) place(i int, u unit, at int) catalog.Place {
	path := d.path(i)
	return catalog.Place{At: at, Anchor: d.sections[i].anchor, Section: d.reading(path, []unit{u}),
		Heading: d.headings(path)}
}

func (d *document) headings(path []int) string {
	var headings []string
	for _, i := range path {
		if s := d.sections[i]; s.heading != "" && !s.hidden {
			headings = append(headings, s.heading)
		}
	}
	return strings.Join(headings, " › ")
}

func separate(b *strings.Builder, join string) {
	if b.Len() > 0 {
		b.WriteString(join)
	}
}

// opening returns the line that opens the code of a unit; only the first part
// of a block repeats its language.
func opening(u unit) string {
	switch {
	case u.fence == nil || u.fence.Mark == "":
		return ""
	case u.first:
		return u.fence.Mark + u.fence.Info + "\n"
	}
	return u.fence.Mark + "\n"
}

func closing(f *markdown.Fence) string {
	if f == nil || f.Mark == "" {
		return ""
	}
	return "\n" + f.Mark
}
