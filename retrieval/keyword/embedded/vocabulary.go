package embedded

import (
	"sort"
	"strings"
)

// vocabulary is a sorted list of distinct terms.
type vocabulary struct {
	text    string   // the terms, concatenated
	offsets []uint32 // where each begins, and the end
}

// termRange is a range of a vocabulary: one term, or those with a prefix.
type termRange struct{ lo, hi uint32 }

func (r termRange) empty() bool          { return r.lo >= r.hi }
func (r termRange) has(term uint32) bool { return r.lo <= term && term < r.hi }

// newVocabulary packs sorted distinct terms.
func newVocabulary(sorted []string) vocabulary {
	v := vocabulary{text: strings.Join(sorted, ""), offsets: make([]uint32, len(sorted)+1)}
	end := 0
	for i, t := range sorted {
		end += len(t)
		v.offsets[i+1] = uint32(end)
	}
	return v
}

func (v *vocabulary) len() int          { return max(0, len(v.offsets)-1) }
func (v *vocabulary) term(i int) string { return v.text[v.offsets[i]:v.offsets[i+1]] }

// lowerBound is the index of the first term that is not before s.
func (v *vocabulary) lowerBound(s string) int {
	return sort.Search(v.len(), func(i int) bool { return v.term(i) >= s })
}

// find returns the range of a term, or of the terms that begin with it;
// empty when there is none. The empty prefix has no terms.
func (v *vocabulary) find(s string, prefix bool) termRange {
	if s == "" {
		return termRange{}
	}
	lo := v.lowerBound(s)
	if !prefix {
		if lo < v.len() && v.term(lo) == s {
			return termRange{uint32(lo), uint32(lo) + 1}
		}
		return termRange{}
	}
	n := sort.Search(v.len()-lo, func(i int) bool { return !strings.HasPrefix(v.term(lo+i), s) })
	return termRange{uint32(lo), uint32(lo + n)}
}

// vocabularyCursor walks a range of one vocabulary.
type vocabularyCursor struct {
	terms *vocabulary
	next  uint32
	end   uint32
}

// mergeTerms yields the distinct terms of several vocabularies in order; at
// is the index of the term in each, -1 where it is missing, and is reused.
func mergeTerms(cursors []vocabularyCursor, yield func(term string, at []int)) {
	at := make([]int, len(cursors))
	heads := make([]string, len(cursors))
	for i, c := range cursors {
		if c.next < c.end {
			heads[i] = c.terms.term(int(c.next))
		}
	}
	for {
		best := -1
		for i, c := range cursors {
			if c.next < c.end && (best < 0 || heads[i] < heads[best]) {
				best = i
			}
		}
		if best < 0 {
			return
		}
		term := heads[best]
		for i := range cursors {
			c := &cursors[i]
			at[i] = -1
			if c.next < c.end && heads[i] == term {
				at[i] = int(c.next)
				if c.next++; c.next < c.end {
					heads[i] = c.terms.term(int(c.next))
				}
			}
		}
		yield(term, at)
	}
}
