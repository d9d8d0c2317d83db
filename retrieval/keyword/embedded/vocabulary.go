package embedded

import (
	"errors"
	"hash/maphash"
	"math/bits"
	"slices"
	"strings"
)

// vocabulary is a sorted list of distinct terms with a hash table over them.
type vocabulary struct {
	text    string   // the terms, concatenated
	offsets []uint32 // where each begins, and the end

	// table has term+1 at the term's hash or, if that place is taken, at the next
	// free one; 0 is free. It is derived, and at most three quarters full.
	table []uint32
	shift int
}

var hashSeed = maphash.MakeSeed()

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

// derive fills the table.
func (v *vocabulary) derive() {
	width := bits.Len(uint(v.len() + v.len()/3))
	v.table, v.shift = make([]uint32, 1<<width), 64-width
	for t := range v.len() {
		at := v.home(v.term(t))
		for v.table[at] != 0 {
			at = (at + 1) & (len(v.table) - 1)
		}
		v.table[at] = uint32(t) + 1
	}
}

func (v *vocabulary) home(term string) int { return int(maphash.String(hashSeed, term) >> v.shift) }

// noTerm is the number of a term that a vocabulary does not have.
const noTerm = ^uint32(0)

// find returns the number of a term.
func (v *vocabulary) find(term string) uint32 {
	for at := v.home(term); v.table[at] != 0; at = (at + 1) & (len(v.table) - 1) {
		if t := v.table[at] - 1; v.term(int(t)) == term {
			return t
		}
	}
	return noTerm
}

func (v *vocabulary) validate() error {
	if len(v.offsets) == 0 || v.offsets[0] != 0 || !ascending(v.offsets, false) ||
		int(v.offsets[v.len()]) != len(v.text) {
		return errors.New("invalid offsets of terms")
	}
	for i := 1; i < v.len(); i++ {
		if v.term(i-1) >= v.term(i) {
			return errors.New("terms out of order")
		}
	}
	return nil
}

// mergeTerms yields the distinct terms of several vocabularies in order; at
// is the index of the term in each, -1 where it is missing, and is reused.
func mergeTerms(vocabularies []*vocabulary, yield func(term string, at []int)) {
	next, at := make([]int, len(vocabularies)), make([]int, len(vocabularies))
	var heads []string // the next term of each that has one, and of which it is
	var of []int
	for i, v := range vocabularies {
		if v.len() > 0 {
			heads, of = append(heads, v.term(0)), append(of, i)
		}
	}
	for len(heads) > 0 {
		term := slices.Min(heads)
		for i := range at {
			at[i] = -1
		}
		for i := 0; i < len(heads); i++ {
			if heads[i] != term {
				continue
			}
			v := of[i]
			at[v] = next[v]
			if next[v]++; next[v] < vocabularies[v].len() {
				heads[i] = vocabularies[v].term(next[v])
			} else {
				heads, of = slices.Delete(heads, i, i+1), slices.Delete(of, i, i+1)
				i--
			}
		}
		yield(term, at)
	}
}
