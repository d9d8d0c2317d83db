package embedded

import (
	"slices"
	"sync"

	"almanac/retrieval/keyword"
)

// state is what a search reads: it never changes once published.
type state struct {
	parts      []*part
	checkpoint int64
	units      [2]statistics // by keyword.Unit

	// df caches what documentFrequency had to count. It is part of the state, so
	// that it is never invalidated.
	df sync.Map // dfKey → int
}

type dfKey struct {
	unit keyword.Unit
	term string
}

// statistics are of the live documents of a unit.
type statistics struct {
	docs    int
	average float64 // length
}

// part is a segment with its deletions.
type part struct {
	seg         *segment
	live        [2]bitset // by keyword.Unit; nil while nothing is deleted
	deadRecords int
	units       [2]struct {
		docs  int
		total int64 // of lengths, in lengthUnits
	}
}

func newPart(s *segment) *part {
	p := &part{seg: s}
	for u := range s.units {
		p.units[u].docs, p.units[u].total = s.units[u].docs(), s.units[u].total
	}
	return p
}

// liveBytes estimates the length of the live sequences.
func (p *part) liveBytes() int {
	n := len(p.seg.ids)
	if n == 0 {
		return 0
	}
	return int(int64(len(p.seg.seqs)) * int64(n-p.deadRecords) / int64(n))
}

// without returns the part with more records deleted; ids are sorted.
func (p *part) without(ids []int64) *part {
	var q *part
	for r, next := 0, 0; next < len(ids); next++ {
		i, found := slices.BinarySearch(p.seg.ids[r:], ids[next])
		if r += i; r == len(p.seg.ids) {
			break
		}
		if !found || p.deadRecords > 0 && !p.live[keyword.Documents].has(r) {
			continue
		}
		if q == nil {
			q = p.copy()
		}
		q.remove(r)
	}
	if q == nil {
		return p
	}
	return q
}

func (p *part) copy() *part {
	q := *p
	for u := range q.live {
		if q.live[u] = slices.Clone(p.live[u]); q.live[u] == nil {
			q.live[u] = fullBitset(p.seg.units[u].docs())
		}
	}
	return &q
}

func (p *part) remove(record int) {
	p.deadRecords++
	lo, hi := int(p.seg.first[record]), int(p.seg.first[record+1])
	p.live[keyword.Documents].clear(record)
	p.live[keyword.Passages].clearRange(lo, hi)
	documents, passages := &p.units[keyword.Documents], &p.units[keyword.Passages]
	documents.docs--
	documents.total -= inUnits(p.seg.units[keyword.Documents].lengths[record])
	for _, l := range p.seg.units[keyword.Passages].lengths[lo:hi] {
		passages.docs--
		passages.total -= inUnits(l)
	}
}

// newState makes a state of the parts that are not empty.
func newState(parts []*part, checkpoint int64) *state {
	s := &state{checkpoint: checkpoint}
	for _, p := range parts {
		if p.deadRecords < len(p.seg.ids) {
			s.parts = append(s.parts, p)
		}
	}
	for u := range s.units {
		total := int64(0)
		for _, p := range s.parts {
			s.units[u].docs += p.units[u].docs
			total += p.units[u].total
		}
		s.units[u].average = average(total, s.units[u].docs)
	}
	return s
}

// documentFrequency returns the number of live documents of the unit that have
// the term: the statistics are of what can be found, whatever deleted documents
// are still to be merged away. Only segments with deletions need the list to be
// read.
func (s *state) documentFrequency(unit keyword.Unit, term string) int {
	key := dfKey{unit, term}
	if n, ok := s.df.Load(key); ok {
		return n.(int)
	}
	total, counted := 0, false
	for _, p := range s.parts {
		r := p.seg.terms.find(term, false)
		if r.empty() {
			continue
		}
		if p.deadRecords == 0 {
			total += int(p.seg.units[unit].df[r.lo])
			continue
		}
		counted = true
		total += p.seg.units[unit].countIn(r.lo, p.live[unit])
	}
	if counted {
		s.df.Store(key, total)
	}
	return total
}
