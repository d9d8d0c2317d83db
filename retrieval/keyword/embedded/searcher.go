package embedded

import (
	"slices"
	"sync"

	"almanac/retrieval/bitset"
	"almanac/retrieval/keyword"
)

// searcher is what a search reads: the segments with their deletions at one
// checkpoint. It never changes once published.
type searcher struct {
	readers    []*segmentReader
	checkpoint int64
	units      [2]statistics // by keyword.Unit
}

// statistics are of the live documents of a unit.
type statistics struct {
	docs    int
	average float64 // length
}

// newSearcher makes a searcher of the readers that have live records.
func newSearcher(readers []*segmentReader, checkpoint int64) *searcher {
	s := &searcher{checkpoint: checkpoint}
	for _, r := range readers {
		if r.deadRecords < len(r.seg.ids) {
			s.readers = append(s.readers, r)
		}
	}
	for u := range s.units {
		total := int64(0)
		for _, r := range s.readers {
			s.units[u].docs += r.units[u].docs
			total += r.units[u].total
		}
		s.units[u].average = average(total, s.units[u].docs)
	}
	return s
}

// segmentReader is a segment with its deletions.
type segmentReader struct {
	seg         *segment
	live        [2]bitset.Set // by keyword.Unit; nil while nothing is deleted
	deadRecords int
	units       [2]struct {
		docs  int
		total int64 // of lengths, in lengthUnits
	}
	// counted caches what documentFrequency had to count. It is part of the
	// reader, so that it is never invalidated.
	counted *sync.Map // unitTerm → int
}

type unitTerm struct {
	unit keyword.Unit
	term uint32
}

func newReader(s *segment) *segmentReader {
	r := &segmentReader{seg: s, counted: new(sync.Map)}
	for u := range s.units {
		r.units[u].docs, r.units[u].total = s.units[u].docs(), s.units[u].total
	}
	return r
}

// documentFrequency counts the live documents that have a term, by its number:
// the statistics are of what can be found, whatever deleted documents are still
// to be merged away. Only a segment with deletions needs the list to be read.
func (r *segmentReader) documentFrequency(unit keyword.Unit, term uint32) int {
	p := &r.seg.units[unit]
	switch {
	case term == noTerm:
		return 0
	case r.deadRecords == 0 || p.df[term] == 0:
		return int(p.df[term])
	}
	key := unitTerm{unit, term}
	if n, ok := r.counted.Load(key); ok {
		return n.(int)
	}
	n := 0
	p.each(term, func(doc int) {
		if r.live[unit].Has(doc) {
			n++
		}
	})
	r.counted.Store(key, n)
	return n
}

// without returns the reader with more records deleted; ids are sorted.
func (r *segmentReader) without(ids []int64) *segmentReader {
	var q *segmentReader
	for at, next := 0, 0; next < len(ids); next++ {
		i, found := slices.BinarySearch(r.seg.ids[at:], ids[next])
		if at += i; at == len(r.seg.ids) {
			break
		}
		if !found || r.deadRecords > 0 && !r.live[keyword.Documents].Has(at) {
			continue
		}
		if q == nil {
			q = r.copy()
		}
		q.remove(at)
	}
	if q == nil {
		return r
	}
	return q
}

func (r *segmentReader) copy() *segmentReader {
	q := *r
	q.counted = new(sync.Map)
	for u := range q.live {
		if q.live[u] = slices.Clone(r.live[u]); q.live[u] == nil {
			q.live[u] = bitset.Full(r.seg.units[u].docs())
		}
	}
	return &q
}

func (r *segmentReader) remove(record int) {
	r.deadRecords++
	lo, hi := int(r.seg.first[record]), int(r.seg.first[record+1])
	r.live[keyword.Documents].Clear(record)
	documents, passages := &r.units[keyword.Documents], &r.units[keyword.Passages]
	documents.docs--
	documents.total -= inUnits(r.seg.units[keyword.Documents].lengths[record])
	for i, l := range r.seg.units[keyword.Passages].lengths[lo:hi] {
		r.live[keyword.Passages].Clear(lo + i)
		passages.docs--
		passages.total -= inUnits(l)
	}
}
