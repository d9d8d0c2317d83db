package corpus

import "almanac/retrieval/analysis"

// Finder finds the terms of a query in the passages of one document after
// another. It looks the terms up once a document, and then compares numbers of
// terms only, at about a nanosecond a token.
type Finder struct {
	ids     []analysis.TermID
	which   []uint8 // by number of the document's term: index in ids + 1, 0 for any other
	numbers []int   // of the terms that are set in which
}

// NewFinder returns a finder of distinct terms, 255 at most.
func NewFinder(ids []analysis.TermID) *Finder { return &Finder{ids: ids} }

// Begin has the finder look in a document from here on.
func (f *Finder) Begin(d *Document) {
	for _, k := range f.numbers {
		f.which[k] = 0
	}
	f.numbers = f.numbers[:0]
	if len(f.which) < d.terms {
		f.which = make([]uint8, 2*d.terms)
	}
	for i, id := range f.ids {
		if k := d.find(id); k >= 0 {
			f.which[k] = uint8(i + 1)
			f.numbers = append(f.numbers, k)
		}
	}
}

// In returns the places of the terms in a field of the document.
func (f *Finder) In(t Terms) Places { return Places{Terms: t, finder: f, at: -1} }

// Places are the terms of a query in a field, in position order.
type Places struct {
	Terms
	finder *Finder
	at     int
	which  uint8
}

// Next goes to the next place. It returns false after the last.
func (p *Places) Next() bool {
	if len(p.finder.numbers) == 0 {
		return false
	}
	d, which := p.d, p.finder.which
	for p.at++; p.at < p.n; p.at++ {
		if p.which = which[d.token(p.first+p.at)]; p.which != 0 {
			return true
		}
	}
	return false
}

// Found returns the index of the term that is there, in the finder's list.
func (p *Places) Found() int { return int(p.which) - 1 }

// Position returns the position of the place in the field.
func (p *Places) Position() int { return p.Terms.Position(p.at) }
