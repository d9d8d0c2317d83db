package index

import (
	"slices"
	"strings"
	"time"

	"almanac/catalog"
	"almanac/retrieval/analysis"
	"almanac/retrieval/dedup"
	"almanac/retrieval/passage"
)

// Document is an indexed record as the reranker reads it. It is immutable.
type Document struct {
	Record     int64
	Attributes passage.Attributes
	Key        string
	Title      string
	Secondary  bool      // a proposal's pull request, or a page of another version than the current
	Stub       bool      // a page with hardly any content, or a test
	Passages   []Passage // by ordinal
	Signature  *dedup.Signature
	Trigrams   []uint32 // of the title

	// Lengths are the field lengths in tokens: title and path once, headings
	// and bodies summed over the passages.
	Lengths [analysis.NumFields]int

	own   []analysis.TermID // terms of the key and of the file's name
	terms []analysis.TermID // distinct, ascending
	freqs [][analysis.NumFields]uint16
}

// Passage is an analysed passage of a document.
type Passage struct {
	ID    passage.ID
	Terms analysis.Packed
}

// Frequencies returns the number of occurrences of the term in each field.
func (d *Document) Frequencies(t analysis.TermID) (tf [analysis.NumFields]uint16) {
	if i, ok := slices.BinarySearch(d.terms, t); ok {
		return d.freqs[i]
	}
	return tf
}

// Owns reports whether a term is part of the record's own name: its key, or the
// name of its file. A record is about an identifier it owns, however often
// others mention it.
func (d *Document) Owns(t analysis.TermID) bool { return slices.Contains(d.own, t) }

// secondary reports whether the record ranks below another with the same
// content: the proposal that a pull request became, the page of the current
// version.
func secondary(r catalog.Record) bool {
	return r.Kind == catalog.KindCIP && strings.HasPrefix(r.Key, "PR-") ||
		slices.Contains(r.Tags, catalog.TagOtherVersion)
}

// newDocument makes a document of a record and its packed passages.
func newDocument(r catalog.Record, passages []Passage) *Document {
	d := &Document{Record: r.ID, Attributes: AttributesOf(r), Key: r.Key, Title: r.Title, Secondary: secondary(r),
		Stub: slices.Contains(r.Tags, catalog.TagStub), Passages: passages, Trigrams: Trigrams(r.Title)}
	type occurrence struct {
		term  analysis.TermID
		field analysis.Field
	}
	var all []uint64 // term<<2 | field, sorted: one run per distinct pair
	for i, p := range passages {
		for f := range analysis.Field(analysis.NumFields) {
			if i > 0 && (f == analysis.Title || f == analysis.Path) {
				continue
			}
			terms := p.Terms.Field(f)
			n := terms.Len()
			d.Lengths[f] += n
			for j := range n {
				all = append(all, uint64(terms.ID(j))<<2|uint64(f))
			}
		}
	}
	slices.Sort(all)
	for i := 0; i < len(all); {
		j := i + 1
		for j < len(all) && all[j] == all[i] {
			j++
		}
		o := occurrence{analysis.TermID(all[i] >> 2), analysis.Field(all[i] & 3)}
		if n := len(d.terms); n == 0 || d.terms[n-1] != o.term {
			d.terms = append(d.terms, o.term)
			d.freqs = append(d.freqs, [analysis.NumFields]uint16{})
		}
		d.freqs[len(d.freqs)-1][o.field] = uint16(min(j-i, 1<<16-1))
		i = j
	}
	d.terms, d.freqs = slices.Clip(d.terms), slices.Clip(d.freqs)
	for _, name := range []string{r.Key, fileName(r.Path)} {
		if r.Parent != 0 {
			break // an attachment's name is its parent's
		}
		for _, t := range analysis.Analyze(name) {
			d.own = append(d.own, analysis.IDOf(t.Term))
		}
	}
	d.Signature = dedup.Sign(bodyTerms(passages))
	return d
}

// bodyTerms returns the terms of the bodies in order.
func bodyTerms(passages []Passage) []analysis.TermID {
	var out []analysis.TermID
	for _, p := range passages {
		body := p.Terms.Field(analysis.Body)
		for i := range body.Len() {
			out = append(out, body.ID(i))
		}
	}
	return out
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

// fileName is the last segment of a path without its extension.
func fileName(path string) string {
	name := path[strings.LastIndexByte(path, '/')+1:]
	if i := strings.LastIndexByte(name, '.'); i > 0 {
		name = name[:i]
	}
	return name
}

// pathText returns the searchable part of a record's path and key: the last
// three segments without the file's extension, and the key if it adds
// something.
func pathText(r catalog.Record) string {
	segments := strings.Split(strings.Trim(r.Path, "/"), "/")
	if len(segments) > 3 {
		segments = segments[len(segments)-3:]
	}
	segments[len(segments)-1] = fileName(r.Path)
	text := strings.Join(segments, " / ")
	if !strings.Contains(r.Path, r.Key) && len(r.Key) <= 80 {
		text = strings.TrimSpace(r.Key + " " + text)
	}
	return text
}
