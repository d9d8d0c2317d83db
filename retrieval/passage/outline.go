package passage

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"almanac/text/markdown"
)

// ReadingSize is the number of characters that are read at once: a section up
// to this size is read with the sections in it, a larger one by itself, and in
// parts of this size if its own text is larger.
const ReadingSize = 8_000

// top names what precedes the first heading, as in addresses of pages.
const top = "top"

// partMark separates the name of a section from the number of its part.
const partMark = "~"

// furtherMark stands before the ordinal of each further passage in a name.
const furtherMark = "+"

// furtherSize is the number of characters up to which further passages are read
// with a section.
const furtherSize = 10_000

// Outline is the structure of a source for readers. Its sections are those
// that Cut cuts at.
type Outline struct {
	d     *document
	title string
}

// NewOutline reads the structure of a text with a title.
func NewOutline(title, body string) Outline { return Outline{parse(title, body), title} }

// ReadingName returns the name by which Read reads a section with further
// passages of the source, the most important first.
func ReadingName(section string, further []int) string {
	for _, ordinal := range further {
		section += furtherMark + strconv.Itoa(ordinal)
	}
	return section
}

// Heading is a section in an outline.
type Heading struct {
	Name  string // for Read
	Text  string
	Level int // from 1
	Size  int // characters, with the sections in it
}

// Headings returns the sections with headings, in their order, without one
// that repeats the title.
func (o Outline) Headings() []Heading { return o.d.list(1, len(o.d.sections)) }

func (d *document) list(from, to int) []Heading {
	var all []Heading
	for _, s := range d.sections[from:to] {
		if s.hidden {
			continue
		}
		all = append(all, Heading{s.name, s.heading, s.level, s.size})
	}
	return all
}

// Reading is a section as it is read.
type Reading struct {
	Name    string
	Heading string // heading path, outermost first, joined by " › "
	Text    string
	Before  string // name of what is before it; "" for nothing
	After   string
	Inside  []Heading // the sections in it that Text does not have
	Further []Piece   // those of the further passages that Text does not have, in their order
}

// Read returns the section of a name: an anchor, or the anchor of a long
// section with the number of a part, such as setup~2, each perhaps with further
// passages, such as setup~2+5+11. The second result is whether there is one.
func (o Outline) Read(name string) (Reading, bool) {
	d := o.d
	section, further := name, []int(nil)
	i, part := d.find(section)
	for i < 0 {
		at := strings.LastIndex(section, furtherMark)
		if at < 0 {
			return Reading{}, false
		}
		ordinal, err := strconv.Atoi(section[at+1:])
		if err != nil {
			return Reading{}, false
		}
		section, further = section[:at], append(further, ordinal)
		i, part = d.find(section)
	}
	s := d.sections[i]
	r := Reading{Name: name, Heading: d.headings(d.path(i)), Before: d.before(i)}
	next := i + 1
	if parts := d.parts(i); i == 0 || part > 0 || s.size > ReadingSize {
		end := s.end
		if part+1 < len(parts) {
			end, r.After = parts[part+1], partName(s.name, part+1)
		}
		if part > 0 {
			r.Before = partName(s.name, part-1)
		}
		r.Text = d.text[parts[part]:end]
		if i > 0 {
			r.Inside = d.list(i+1, s.last+1)
		}
	} else {
		r.Text, next = d.text[s.start:d.sections[s.last].end], s.last+1
	}
	r.Text = strings.TrimSpace(r.Text)
	slices.Reverse(further)
	r.Further = o.further(section, further, furtherSize-utf8.RuneCountInString(r.Text))
	if r.After == "" && next < len(d.sections) {
		r.After = d.sections[next].name
	}
	return r, true
}

// further returns the passages of the ordinals that a section does not have, as
// many of the first as room characters hold.
func (o Outline) further(section string, ordinals []int, room int) []Piece {
	if len(ordinals) == 0 {
		return nil
	}
	var kept []Piece
	pieces := Cut(Source{Title: o.title, Body: o.d.text})
	for _, ordinal := range ordinals {
		if ordinal < 0 || ordinal >= len(pieces) || pieces[ordinal].Section == section {
			continue
		}
		p := pieces[ordinal]
		if room -= utf8.RuneCountInString(p.Text); room < 0 {
			break
		}
		kept = append(kept, p)
	}
	slices.SortFunc(kept, func(a, b Piece) int { return a.Ordinal - b.Ordinal })
	return slices.CompactFunc(kept, func(a, b Piece) bool { return a.Ordinal == b.Ordinal })
}

// find returns the index of the section of a name and of its part, from 0; -1
// if there is none.
func (d *document) find(name string) (at, part int) {
	index := func(name string) int {
		return slices.IndexFunc(d.sections, func(s section) bool { return s.name == name })
	}
	if i := index(name); i >= 0 {
		return i, 0
	}
	mark := strings.LastIndex(name, partMark)
	if mark < 0 {
		return -1, 0
	}
	n, err := strconv.Atoi(name[mark+1:])
	i := index(name[:mark])
	if err != nil || i < 0 || n < 1 || n > len(d.parts(i)) {
		return -1, 0
	}
	return i, n - 1
}

// before names what precedes a section, in its last part.
func (d *document) before(i int) string {
	if i == 0 || i == 1 && strings.TrimSpace(d.text[:d.sections[1].start]) == "" {
		return ""
	}
	return partName(d.sections[i-1].name, len(d.parts(i-1))-1)
}

func partName(name string, part int) string {
	if part == 0 {
		return name
	}
	return name + partMark + strconv.Itoa(part+1)
}

// measure gives the sections their names, ends and sizes.
func (d *document) measure() {
	taken := map[string]bool{}
	for _, s := range d.sections[1:] {
		taken[s.anchor] = true
	}
	for i := range d.sections {
		s := &d.sections[i]
		s.end, s.last = len(d.text), i
		if i+1 < len(d.sections) {
			s.end = d.sections[i+1].start
		}
		s.size = utf8.RuneCountInString(d.text[s.start:s.end])
		if s.name = s.anchor; s.name != "" {
			continue
		}
		s.name = top // also of a heading without letters
		for n := 0; taken[s.name]; n++ {
			s.name = top + "-" + strconv.Itoa(n)
		}
		taken[s.name] = true
	}
	for i := len(d.sections) - 1; i > 0; i-- {
		s := d.sections[i]
		parent := &d.sections[s.parent]
		parent.size += s.size
		parent.last = max(parent.last, s.last)
	}
}

// reading names what to read around the units of a passage: the largest
// section that holds them all and is read at once, else one around most of
// their words. shared are the sections that all units are in.
func (d *document) reading(shared []int, units []unit) string {
	words, most := map[int]int{}, units[0]
	for _, u := range units {
		words[u.section] += u.words
		if u.section != most.section && words[u.section] > words[most.section] {
			most = u
		}
	}
	for _, path := range [][]int{shared, d.path(most.section)} {
		for _, i := range path {
			switch {
			case d.sections[i].size > ReadingSize:
			case i == 0:
				return ""
			default:
				return d.sections[i].name
			}
		}
	}
	part := 0
	for n, start := range d.parts(most.section) {
		if start <= (most.start+most.end)/2 {
			part = n
		}
	}
	return partName(d.sections[most.section].name, part)
}

// parts returns where the parts of a section's own text begin: one, or more if
// it is too long to be read at once.
func (d *document) parts(i int) []int {
	s := &d.sections[i]
	if s.parts != nil {
		return s.parts
	}
	starts, size := []int{s.start}, 0
	for _, b := range blocks(d.text[s.start:s.end]) {
		n := utf8.RuneCountInString(d.text[s.start+b[0] : s.start+b[1]])
		if size > 0 && size+n > ReadingSize {
			starts, size = append(starts, s.start+b[0]), 0
		}
		size += n
	}
	s.parts = starts
	return starts
}

// blocks divides a text into ranges that end after empty lines outside of
// code, and those that are too long after lines, words or characters.
func blocks(text string) [][2]int {
	var all [][2]int
	begun, at, size := 0, 0, 0
	flush := func(end int) {
		if end > begun {
			all = append(all, [2]int{begun, end})
		}
		begun, size = end, 0
	}
	var fence markdown.Fence
	for line := range strings.Lines(text) {
		bare := strings.TrimSpace(line)
		part := fence.Next(line)
		n := utf8.RuneCountInString(line)
		if size+n > ReadingSize {
			flush(at)
		}
		for n > ReadingSize {
			cut := len(firstWords(line, ReadingSize))
			flush(at + cut)
			n -= utf8.RuneCountInString(line[:cut])
			at, line = at+cut, line[cut:]
		}
		size += n
		at += len(line)
		if bare == "" && part == markdown.Text {
			flush(at)
		}
	}
	flush(at)
	return all
}

// firstWords returns the beginning of a text of at most n characters, cut after
// a space if there is one in its second half.
func firstWords(text string, n int) string {
	end := 0
	for ; n > 0; n-- {
		_, size := utf8.DecodeRuneInString(text[end:])
		end += size
	}
	if at := strings.LastIndexFunc(text[:end], unicode.IsSpace); at > end/2 {
		return text[:at+1]
	}
	return text[:end]
}
