package corpus

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
	Secondary  bool // a proposal's pull request, or a page of another version than the current
	Stub       bool // a page with hardly any content, or a test

	passages  []analysis.Packed // by ordinal
	signature *dedup.Signature
	trigrams  []uint32
	lengths   [analysis.NumFields]int
	own       []analysis.TermID // terms of the key and of the file's name
	terms     []analysis.TermID // distinct, ascending
	freqs     [][analysis.NumFields]uint16
}

// NewDocument makes the document of a record and the packed terms of its
// passages, by ordinal.
func NewDocument(r catalog.Record, passages []analysis.Packed) *Document {
	d := &Document{Record: r.ID, Attributes: AttributesOf(r), Key: r.Key, Title: r.Title, Secondary: secondary(r),
		Stub: slices.Contains(r.Tags, catalog.TagStub), passages: passages, trigrams: Trigrams(r.Title),
		own: ownTerms(r), signature: dedup.Sign(bodyTerms(passages))}
	d.countTerms()
	return d
}

// Len returns the number of passages.
func (d *Document) Len() int { return len(d.passages) }

// Terms returns the terms of a passage.
func (d *Document) Terms(ordinal int) analysis.Packed { return d.passages[ordinal] }

// Length returns the length of a field in tokens: of title and path once, of
// headings and bodies summed over the passages.
func (d *Document) Length(f analysis.Field) int { return d.lengths[f] }

// Trigrams returns those of the title, as Trigrams does.
func (d *Document) Trigrams() []uint32 { return d.trigrams }

// Signature returns that of the bodies, by which copies are recognised.
func (d *Document) Signature() *dedup.Signature { return d.signature }

// Frequencies returns the number of occurrences of the term in each field. Ids
// are hashes, spread evenly, so the search begins where the term should be
// (interpolation search: Perl, Itai, Avni, CACM 1978) and gallops from there.
func (d *Document) Frequencies(t analysis.TermID) (tf [analysis.NumFields]uint16) {
	n := len(d.terms)
	lo := int(uint64(t) * uint64(n) >> 32)
	hi := lo // d.terms[lo:hi] is to hold the term
	for step := 4; lo > 0 && d.terms[lo-1] >= t; step *= 2 {
		lo = max(0, lo-step)
	}
	for step := 4; hi < n && d.terms[hi] <= t; step *= 2 {
		hi = min(n, hi+step)
	}
	if i, ok := slices.BinarySearch(d.terms[lo:hi], t); ok {
		return d.freqs[lo+i]
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

// countTerms fills lengths, terms and freqs from the passages.
func (d *Document) countTerms() {
	var all []uint64 // term<<2 | field, sorted: one run per distinct pair
	for i, p := range d.passages {
		for f := range analysis.Field(analysis.NumFields) {
			if i > 0 && (f == analysis.Title || f == analysis.Path) {
				continue
			}
			terms := p.Field(f)
			n := terms.Len()
			d.lengths[f] += n
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
		term, field := analysis.TermID(all[i]>>2), analysis.Field(all[i]&3)
		if n := len(d.terms); n == 0 || d.terms[n-1] != term {
			d.terms = append(d.terms, term)
			d.freqs = append(d.freqs, [analysis.NumFields]uint16{})
		}
		d.freqs[len(d.freqs)-1][field] = uint16(min(j-i, 1<<16-1))
		i = j
	}
	d.terms, d.freqs = slices.Clip(d.terms), slices.Clip(d.freqs)
}

// ownTerms returns the terms of a record's key and of its file's name. An
// attachment has none: its name is its parent's.
func ownTerms(r catalog.Record) []analysis.TermID {
	if r.Parent != 0 {
		return nil
	}
	var own []analysis.TermID
	for _, name := range []string{r.Key, FileName(r.Path)} {
		for _, t := range analysis.Analyze(name) {
			own = append(own, analysis.IDOf(t.Term))
		}
	}
	return own
}

// bodyTerms returns the terms of the bodies in order.
func bodyTerms(passages []analysis.Packed) []analysis.TermID {
	var out []analysis.TermID
	for _, p := range passages {
		body := p.Field(analysis.Body)
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

// FileName is the last segment of a path without its extension.
func FileName(path string) string {
	name := path[strings.LastIndexByte(path, '/')+1:]
	if i := strings.LastIndexByte(name, '.'); i > 0 {
		name = name[:i]
	}
	return name
}
