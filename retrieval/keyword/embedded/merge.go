package embedded

import (
	"cmp"
	"slices"

	"almanac/retrieval/keyword"
)

// merge makes one segment of the live records of several, which are distinct.
// Terms that no live record has are dropped. It works term by term, so that it
// needs little more memory than its result.
func merge(readers []*segmentReader, scoring *[2]Scoring) *segment {
	m := merger{readers: readers, out: &segment{}}
	for u := range m.units {
		m.units[u].docs, m.units[u].codes = make([][]uint32, len(readers)), make([][]uint32, len(readers))
	}
	m.columns()
	var writers [2]*listWriter
	for u := range writers {
		m.renumberCodes(u)
		writers[u] = newListWriter(&m.out.units[u], &scoring[u])
	}
	vocabularies := make([]*vocabulary, len(readers))
	for i, r := range readers {
		vocabularies[i] = &r.seg.terms
	}
	var terms []string
	mergeTerms(vocabularies, func(term string, at []int) {
		var lists [2][]posting
		for u := range lists {
			lists[u] = m.list(u, at)
		}
		if len(lists[0])+len(lists[1]) == 0 {
			return
		}
		terms = append(terms, term)
		for u, w := range writers {
			w.add(lists[u])
		}
	})
	for _, w := range writers {
		w.close()
	}
	m.out.terms = newVocabulary(terms)
	m.out.derive()
	return m.out
}

// merger is a merge under way.
type merger struct {
	readers []*segmentReader
	out     *segment // allocated by itself: it keeps no merger alive, which has the readers
	units   [2]struct {
		docs  [][]uint32 // of each reader: new number of a document, or gone
		codes [][]uint32 // of each reader: new code
		list  []posting  // the term's, reused
		run   []posting
	}
}

// gone is the new number of a deleted document.
const gone = ^uint32(0)

// columns merges all but the terms, by record id.
func (m *merger) columns() {
	type location struct {
		id             int64
		reader, record int
	}
	var order []location
	for i, r := range m.readers {
		for u := range m.units {
			docs := make([]uint32, r.seg.units[u].docs())
			for d := range docs {
				docs[d] = gone
			}
			m.units[u].docs[i] = docs
		}
		for record, id := range r.seg.ids {
			if r.deadRecords == 0 || r.live[keyword.Documents].Has(record) {
				order = append(order, location{id, i, record})
			}
		}
	}
	slices.SortFunc(order, func(a, b location) int { return cmp.Compare(a.id, b.id) })
	var attrs attributeBuilder
	s := m.out
	documents, passages := &s.units[keyword.Documents], &s.units[keyword.Passages]
	for _, at := range order {
		from := m.readers[at.reader].seg
		m.units[keyword.Documents].docs[at.reader][at.record] = uint32(len(s.ids))
		lo, hi := from.first[at.record], from.first[at.record+1]
		for p := lo; p < hi; p++ {
			m.units[keyword.Passages].docs[at.reader][p] = uint32(len(s.ordinals)) + p - lo
		}
		s.ids = append(s.ids, from.ids[at.record])
		s.dates = append(s.dates, from.dates[at.record])
		s.first = append(s.first, uint32(len(s.ordinals)))
		s.ordinals = append(s.ordinals, from.ordinals[lo:hi]...)
		attrs.add(from.attrs.table[from.attrs.of[at.record]])
		documents.lengths = append(documents.lengths, from.units[keyword.Documents].lengths[at.record])
		passages.lengths = append(passages.lengths, from.units[keyword.Passages].lengths[lo:hi]...)
	}
	s.first = append(s.first, uint32(len(s.ordinals)))
	s.attrs = attrs.attributes
}

// renumberCodes joins the codes of a unit.
func (m *merger) renumberCodes(unit int) {
	all := newCodes()
	for i, r := range m.readers {
		from := &r.seg.units[unit]
		m.units[unit].codes[i] = make([]uint32, len(from.freqs))
		for code, tf := range from.freqs {
			m.units[unit].codes[i][code] = all.use(tf, from.uses[code])
		}
	}
	newCodes := all.rank(&m.out.units[unit])
	clear(m.out.units[unit].uses) // counted anew, without the deleted
	for _, codes := range m.units[unit].codes {
		for i, code := range codes {
			codes[i] = newCodes[code]
		}
	}
}

// list returns the live postings of a term, which has the number at[i] in
// reader i; it is valid until the next call.
func (m *merger) list(unit int, at []int) []posting {
	u := &m.units[unit]
	uses := m.out.units[unit].uses
	u.list = u.list[:0]
	var c cursor
	for i, term := range at {
		if term < 0 {
			continue
		}
		docs, codes := u.docs[i], u.codes[i]
		u.run = u.run[:0]
		for c.open(&m.readers[i].seg.units[unit], uint32(term)); c.block < c.end; c.nextBlock() {
			c.load()
			c.loadCodes()
			for j, doc := range c.docs[:c.n] {
				if doc = docs[doc]; doc != gone {
					code := codes[c.codes[j]]
					uses[code]++
					u.run = append(u.run, newPosting(doc, code))
				}
			}
		}
		u.list = mergeRun(u.list, u.run)
	}
	return u.list
}

// mergeRun merges an ascending run into an ascending list.
func mergeRun(list, run []posting) []posting {
	i, j := len(list)-1, len(run)-1
	list = append(list, run...)
	for k := len(list) - 1; j >= 0; k-- {
		if i >= 0 && list[i] > run[j] {
			list[k] = list[i]
			i--
		} else {
			list[k] = run[j]
			j--
		}
	}
	return list
}
