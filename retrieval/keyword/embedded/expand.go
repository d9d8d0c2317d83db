package embedded

import (
	"cmp"
	"context"
	"fmt"
	"math/bits"
	"slices"
	"unicode/utf8"

	"almanac/retrieval/keyword"
)

// Words of fewer than minExpand characters have no expansions, those of fewer
// than minDistance2 only at distance 1.
const (
	minExpand    = 3
	minDistance2 = 6
	maxPattern   = 64 // characters of a word that has expansions
)

// spelling is what a vocabulary's terms look like at a glance: how many
// characters; and, hashed to 32, which ones occur (low half), which ones more
// than once (high half).
type spelling struct {
	lengths []uint8 // saturated
	letters []uint64
}

func newSpelling(v *vocabulary) spelling {
	s := spelling{make([]uint8, v.len()), make([]uint64, v.len())}
	for i := range v.len() {
		n, letters := spell(v.term(i))
		s.lengths[i], s.letters[i] = uint8(min(n, 255)), letters
	}
	return s
}

func spell(word string) (length int, letters uint64) {
	for _, r := range word {
		length++
		bit := uint64(1) << (r & 31)
		letters |= bit | letters&bit<<32
	}
	return length, letters
}

// Expand implements keyword.Engine: terms at a distance of 1, or 2 for words
// of six characters or more, in insertions, deletions, substitutions and
// transpositions of neighbours (optimal string alignment); nearest first, then
// the most frequent. The word itself is not among them.
//
// All terms are looked at, but compared only if they pass a filter (Navarro,
// "A guided tour to approximate string matching", 2001, section 8): an edit
// changes the length by one at most and the bag of letters by two.
func (e *Engine) Expand(ctx context.Context, word string, k int) ([]keyword.Expansion, error) {
	q := keyword.Query{Unit: keyword.Documents}
	s, err := e.current(ctx, &q)
	if err != nil || k <= 0 {
		return nil, err
	}
	p := newPattern(word)
	if p.length < minExpand || p.length > maxPattern {
		return nil, nil
	}
	most := 1
	if p.length >= minDistance2 {
		most = 2
	}
	near := map[string]int{}
	for _, pt := range s.parts {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("keyword: expand: %w", err)
		}
		pt.seg.near(p, most, near)
	}
	var out []keyword.Expansion
	for term, distance := range near {
		if n := s.documentFrequency(keyword.Documents, term); n > 0 {
			out = append(out, keyword.Expansion{Term: term, Distance: distance, Documents: n})
		}
	}
	slices.SortFunc(out, func(a, b keyword.Expansion) int {
		return cmp.Or(cmp.Compare(a.Distance, b.Distance), cmp.Compare(b.Documents, a.Documents), cmp.Compare(a.Term, b.Term))
	})
	return out[:min(k, len(out))], nil
}

// near adds the terms of the segment within the distance of the pattern.
func (s *segment) near(p *pattern, most int, found map[string]int) {
	lengths := s.spelling.lengths
	for i, letters := range s.spelling.letters {
		if bits.OnesCount64(letters^p.letters) > 2*most {
			continue
		}
		if d := int(lengths[i]) - p.length; d > most || d < -most {
			continue
		}
		term := s.terms.term(i)
		if d := p.distance(term); d > 0 && d <= most {
			found[term] = d
		}
	}
}

// pattern is a word prepared for bit-parallel comparison.
type pattern struct {
	length  int
	letters uint64
	ascii   [utf8.RuneSelf]uint64 // where in the word each character stands
	other   map[rune]uint64
}

func newPattern(word string) *pattern {
	p := &pattern{}
	p.length, p.letters = spell(word)
	i := 0
	for _, r := range word {
		if i == maxPattern {
			break
		}
		if r < utf8.RuneSelf {
			p.ascii[r] |= 1 << i
		} else {
			if p.other == nil {
				p.other = map[rune]uint64{}
			}
			p.other[r] |= 1 << i
		}
		i++
	}
	return p
}

// distance is the optimal string alignment distance to a term, computed a
// column at a time in the bits of a word (Hyyrö, "A bit-vector algorithm for
// computing Levenshtein and Damerau edit distances", 2003).
func (p *pattern) distance(term string) int {
	vp, vn := ^uint64(0), uint64(0)
	var d0, before uint64 // before: matches of the character in front
	distance := p.length
	last := uint64(1) << (p.length - 1)
	for _, r := range term {
		var match uint64
		if r < utf8.RuneSelf {
			match = p.ascii[r]
		} else {
			match = p.other[r]
		}
		transposed := (^d0 & match) << 1 & before
		d0 = ((match & vp) + vp ^ vp) | match | vn | transposed
		hp := vn | ^(d0 | vp)
		hn := vp & d0
		if hp&last != 0 {
			distance++
		}
		if hn&last != 0 {
			distance--
		}
		hp = hp<<1 | 1
		hn <<= 1
		vp = hn | ^(d0 | hp)
		vn = hp & d0
		before = match
	}
	return distance
}
