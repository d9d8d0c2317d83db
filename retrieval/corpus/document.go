package corpus

import (
	"slices"
	"sort"
	"strings"
	"time"

	"almanac/catalog"
	"almanac/retrieval/analysis"
	"almanac/retrieval/corpus/prefetch"
	"almanac/retrieval/dedup"
	"almanac/retrieval/passage"
	"almanac/text/markdown"
)

// Document is an indexed record as the reranker reads it. It is immutable, and
// a view of its encoded form (encode.go): making one costs no decoding of terms.
type Document struct {
	Record     int64
	Attributes passage.Attributes
	Key        string
	Title      string
	Thread     int64 // record of the thread that it is a post, message or comment of; 0: none
	Secondary  bool  // a proposal's pull request, or a page of another version than the current
	Stub       bool  // a page or message with hardly any content, or a test
	Over       bool  // of what is no more: a retired project

	layout
	raw string // the whole of it
}

// Encoded returns the document as Decode reads it.
func (d *Document) Encoded() string { return d.raw }

// Len returns the number of passages.
func (d *Document) Len() int { return d.passages }

// Terms returns the terms of a passage.
func (d *Document) Terms(ordinal int) Passage { return Passage{d, ordinal} }

// Length returns the length of a field in tokens: of title and path once, of
// headings and bodies summed over the passages.
func (d *Document) Length(f analysis.Field) int {
	switch f {
	case analysis.Heading:
		return d.headings
	case analysis.Body:
		return d.start(2+2*d.passages) - d.start(2) - d.headings
	}
	return Passage{d, 0}.Field(f).Len()
}

// Frequencies returns the number of occurrences of the term in each field, 65,535
// at most.
func (d *Document) Frequencies(t analysis.TermID) [analysis.NumFields]uint16 {
	if k := d.find(t); k >= 0 {
		return d.detail(k).fields
	}
	return [analysis.NumFields]uint16{}
}

// Wanted are terms that are looked for in a document.
type Wanted struct {
	numbers []int // of each in the document, −1 for those that it does not hold
	found   int   // how many it holds
	// marked has, by the low bits of a term's number, 1 + the index of the wanted term
	// that it may be; 0: it is none of them.
	marked [markedTerms]uint16
}

const markedTerms = 1 << 12

// which returns the index of the wanted term with a number, −1 if there is none. mark
// is what marked says of the number.
func (w *Wanted) which(number, mark int) int {
	if w.numbers[mark-1] == number {
		return mark - 1
	}
	return slices.Index(w.numbers, number)
}

// Want looks terms up in the document, each of which is given once.
func (d *Document) Want(terms []analysis.TermID, w *Wanted) {
	for _, k := range w.numbers {
		w.marked[k&(markedTerms-1)] = 0
	}
	w.numbers, w.found = w.numbers[:0], 0
	for _, t := range terms {
		k := d.find(t)
		if w.numbers = append(w.numbers, k); k >= 0 {
			w.marked[k&(markedTerms-1)] = uint16(len(w.numbers))
			w.found++
		}
	}
}

// Fetch asks the processor for what Want, Occurrences and TitleSimilarity will read of
// the document, so that it is there when they do: documents lie anywhere in memory.
func (d *Document) Fetch(terms []analysis.TermID) {
	for _, t := range terms {
		k := d.guess(t)
		prefetch.Line(d.raw, d.termsAt+4*k)
		prefetch.Line(d.raw, d.countsAt+k)
	}
	prefetch.Line(d.raw, d.startsAt)
	prefetch.Line(d.raw, d.trigramsAt)
	prefetch.Line(d.raw, d.trigramsAt+64)
}

// FetchPassages asks for what Terms of the passages will read, some time after Fetch.
func (d *Document) FetchPassages(ordinals []int) {
	for _, o := range ordinals {
		first := d.start(2 + 2*o)
		prefetch.Line(d.raw, d.stepsAt+first/8)
		at := d.tokensAt + first*d.width/8
		prefetch.Line(d.raw, at)
		prefetch.Line(d.raw, at+64)
	}
}

// Occurrences is Frequencies of the i-th wanted term.
func (d *Document) Occurrences(i int, w *Wanted) [analysis.NumFields]uint16 {
	if k := w.numbers[i]; k >= 0 {
		return d.detail(k).fields
	}
	return [analysis.NumFields]uint16{}
}

// Owns reports whether a term is part of the record's own name: its key, the name of
// its file, or those of an endpoint. A record is about an identifier it owns, however often
// others mention it.
func (d *Document) Owns(t analysis.TermID) bool {
	for i := range d.own {
		if d.uint32(d.ownAt+4*i) == uint32(t) {
			return true
		}
	}
	return false
}

// Headed returns the first passage in which a heading begins that is nothing but the
// term; −1 if there is none.
func (d *Document) Headed(t analysis.TermID) int { return d.marked(t, false) }

// Hyphened reports whether the document writes the term behind a hyphen, as an option.
func (d *Document) Hyphened(t analysis.TermID) bool { return d.marked(t, true) >= 0 }

// marked returns the first passage that has such a mark on the term; −1 if there is none.
func (d *Document) marked(t analysis.TermID, option bool) int {
	i := sort.Search(d.marks, func(i int) bool { return d.mark(i).Term >= t })
	for ; i < d.marks && d.mark(i).Term == t; i++ {
		if m := d.mark(i); m.Option == option {
			return m.Passage
		}
	}
	return -1
}

// TitleSimilarity returns the Dice coefficient of the title's trigrams and
// others.
func (d *Document) TitleSimilarity(others *TrigramSet) float64 {
	if len(others.trigrams)+d.trigrams == 0 {
		return 0
	}
	n := 0
	for i := range d.trigrams {
		if others.has(d.uint32(d.trigramsAt + 4*i)) {
			n++
		}
	}
	return 2 * float64(n) / float64(len(others.trigrams)+d.trigrams)
}

// Signature returns that of the bodies, by which copies are recognised. Of an endpoint
// it is that of the title: several files and versions describe the same one.
func (d *Document) Signature() dedup.Signature {
	return dedup.Signature(d.raw[d.signatureAt : d.signatureAt+dedup.SignatureSize])
}

// Passage is the analysed text of a passage.
type Passage struct {
	d       *Document
	ordinal int
}

// Field returns the terms of a field; title and path are the record's.
func (p Passage) Field(f analysis.Field) Terms {
	at := int(f) / int(analysis.Path) // title 0, path 1
	switch f {
	case analysis.Heading:
		at = 2 + 2*p.ordinal
	case analysis.Body:
		at = 3 + 2*p.ordinal
	}
	start := p.d.start(at)
	return Terms{p.d, start, p.d.start(at+1) - start}
}

// Terms are the terms of one field, in position order.
type Terms struct {
	d     *Document
	first int // number of the first token in the document
	n     int
}

// Len returns the number of terms.
func (t Terms) Len() int { return t.n }

// ID returns the i-th term's id.
func (t Terms) ID(i int) analysis.TermID { return t.d.term(t.d.token(t.first + i)) }

// Find returns the index of the first term from the i-th on that is wanted, and
// which of them it is; Len and −1 if there is none: hardly any term of a text is.
func (t Terms) Find(i int, w *Wanted) (at, which int) {
	if w.found == 0 {
		return t.n, -1
	}
	d := t.d
	width := uint(max(1, d.width)) & 63 // with one term no bits are stored, and the next ones are zero
	mask := uint64(1)<<d.width - 1
	for bit := (t.first + i) * d.width; i < t.n; bit += d.inWord * d.width {
		word := d.uint64(d.tokensAt+bit>>3) >> (bit & 7)
		for end := min(i+d.inWord, t.n); i < end; i++ {
			n := word & mask
			if mark := w.marked[n&(markedTerms-1)]; mark != 0 {
				if which := w.which(int(n), int(mark)); which >= 0 {
					return i, which
				}
			}
			word >>= width
		}
	}
	return t.n, -1
}

// Position returns the i-th term's position; several terms can share one.
func (t Terms) Position(i int) int { return t.Distance(0, i) }

// Distance returns how many positions the j-th term stands after the i-th, which must
// not be the later one.
func (t Terms) Distance(i, j int) int { return t.d.steps(t.first+1+i, t.first+1+j) }

// secondary reports whether the record ranks below another with the same
// content: the proposal that a pull request became, the page of the current
// version.
func secondary(r catalog.Record) bool {
	return r.Kind == catalog.KindCIP && strings.HasPrefix(r.Key, "PR-") ||
		slices.Contains(r.Tags, catalog.TagOtherVersion)
}

// replyWords is how many words of its own a message has at least if it says
// something alone; "+1" and "In favour." say it of what they answer.
const replyWords = 5

func stub(r catalog.Record) bool {
	if slices.Contains(r.Tags, catalog.TagStub) {
		return true
	}
	if !r.Kind.InThread() {
		return false
	}
	words := 0
	for b := range markdown.Blocks(r.Body) {
		if !b.Quoted {
			words += passage.WordCount(r.Body[b.Start:b.End])
		}
		if words >= replyWords {
			return false
		}
	}
	return true
}

// ownTerms returns the terms of a record's key and of its file's name. An
// attachment has none: its name is its parent's. The file of an endpoint is that of
// many: it has the names that its API gives it.
func ownTerms(r catalog.Record) []analysis.TermID {
	if r.Parent != 0 {
		return nil
	}
	names := []string{r.Key, FileName(r.Path)}
	if r.Kind == catalog.KindEndpoint {
		e, _ := catalog.Decode[catalog.APIEndpoint](r) // without its data it has no name
		names = e.Names()
	}
	var own []analysis.TermID
	for _, name := range names {
		for _, t := range analysis.Analyze(name) {
			own = append(own, analysis.IDOf(t.Term))
		}
	}
	return own
}

// AttributesOf returns the attributes of a record that filters use.
func AttributesOf(r catalog.Record) passage.Attributes {
	date := r.LastActivityAt
	for _, t := range []time.Time{r.UpdatedAt, r.CreatedAt} {
		if date.IsZero() {
			date = t
		}
	}
	return passage.Attributes{Kind: string(r.Kind), Source: r.Source, Container: r.Container, State: r.State,
		Date: date}
}

// FileName is the last segment of a path without its extension.
func FileName(path string) string {
	name := path[strings.LastIndexByte(path, '/')+1:]
	if i := strings.LastIndexByte(name, '.'); i > 0 {
		name = name[:i]
	}
	return name
}
