package embedded

import (
	"almanac/retrieval/analysis"
	"almanac/retrieval/keyword"
)

// phrase is a phrase of the query in terms of one segment's vocabulary.
type phrase struct {
	terms []termRange
	// join[i]: terms i-1 and i may be at the same position, as the parts of an
	// identifier are. A word does not match two equal terms.
	join      []bool
	prev, cur []bool // scratch: the first i+1 terms match up to a position
}

// newPhrase returns nil if a term of the phrase is not in the vocabulary.
func newPhrase(v *vocabulary, terms []keyword.Term) *phrase {
	n := len(terms)
	ph := &phrase{terms: make([]termRange, n), join: make([]bool, n), prev: make([]bool, n), cur: make([]bool, n)}
	for i, t := range terms {
		if ph.terms[i] = v.find(t.Text, t.Prefix); ph.terms[i].empty() {
			return nil
		}
		ph.join[i] = i > 0 && t.Text != terms[i-1].Text
	}
	return ph
}

// matches reports whether the terms occur in the sequence in order, each at the
// position after the previous one or at the same.
func (ph *phrase) matches(s *sequence, names []uint32) bool {
	clear(ph.cur)
	for lo, hi := 0, 0; lo < len(s.ids); lo = hi {
		for hi = lo + 1; hi < len(s.ids) && s.positions[hi] == s.positions[lo]; hi++ {
		}
		ph.prev, ph.cur = ph.cur, ph.prev
		if lo > 0 && s.positions[lo] != s.positions[lo-1]+1 {
			clear(ph.prev)
		}
		for j, r := range ph.terms {
			ph.cur[j] = (j == 0 || ph.prev[j-1] || ph.join[j] && ph.cur[j-1]) && anyIn(r, s.ids[lo:hi], names)
		}
		if ph.cur[len(ph.terms)-1] {
			return true
		}
	}
	return false
}

func anyIn(r termRange, ids, names []uint32) bool {
	for _, id := range ids {
		if r.has(names[id]) {
			return true
		}
	}
	return false
}

// verify reports whether each phrase occurs in one field of the document.
func (pp *partPlan) verify(doc int, first, second *sequence) bool {
	for i := range pp.phrases {
		if !pp.hasPhrase(&pp.phrases[i], doc, first, second) {
			return false
		}
	}
	return true
}

func (pp *partPlan) hasPhrase(ph *phrase, doc int, first, second *sequence) bool {
	f := pp.seg.forward
	weights := &pp.weights.FieldWeights
	inSlot := func(slot int, a, b analysis.Field) bool {
		f.readSlot(slot, first, second)
		return weights[a] > 0 && ph.matches(first, f.names) || weights[b] > 0 && ph.matches(second, f.names)
	}
	record, lo, hi := doc, 0, 0
	if pp.unit == keyword.Documents {
		lo, hi = int(f.first[doc]), int(f.first[doc+1])
	} else {
		record, lo, hi = int(pp.seg.recordOf[doc]), doc, doc+1
	}
	for p := lo; p < hi; p++ {
		if inSlot(f.passageSlot(record, p), analysis.Heading, analysis.Body) {
			return true
		}
	}
	return inSlot(f.titleSlot(record), analysis.Title, analysis.Path)
}
