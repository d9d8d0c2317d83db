// Package dedup recognises near-identical texts by MinHash over word
// shingles.
package dedup

import (
	"math"
	"math/bits"

	"almanac/retrieval/analysis"
)

const (
	shingle = 5   // words
	bins    = 128 // standard error of the estimate near 0.8: 0.035
	empty   = math.MaxUint32
	// fewest is the number of shingles below which an estimate is meaningless;
	// shorter texts are the same only if they are equal.
	fewest = 24
)

// Signature summarises a text so that the Jaccard similarity of two texts'
// sets of five-word shingles can be estimated. One hash a shingle fills 128
// bins (Li, Owen, Zhang: One permutation hashing, NIPS 2012); empty bins are
// left out of the comparison.
type Signature struct {
	bins  [bins]uint32
	count int
	all   uint64 // order-dependent hash of the whole text
}

// Sign makes a signature from a text's terms in order.
func Sign(terms []analysis.TermID) *Signature {
	s := &Signature{}
	for i := range s.bins {
		s.bins[i] = empty
	}
	var ring [shingle]uint64
	for i, t := range terms {
		x := mix(uint64(t))
		s.all = bits.RotateLeft64(s.all, 7) ^ x
		ring[i%shingle] = x
		if i+1 < shingle {
			continue
		}
		h := uint64(0)
		for j := range shingle { // oldest first
			h = mix(h ^ ring[(i+1+j)%shingle])
		}
		s.count++
		b := h >> 57
		s.bins[b] = min(s.bins[b], uint32(h))
	}
	return s
}

// Similarity estimates the Jaccard similarity, 0 to 1.
func Similarity(a, b *Signature) float64 {
	if a.all == b.all && a.count == b.count {
		return 1
	}
	if a.count < fewest || b.count < fewest {
		return 0
	}
	if ratio := float64(min(a.count, b.count)) / float64(max(a.count, b.count)); ratio < 0.5 {
		return 0 // Jaccard cannot exceed the ratio of the sizes
	}
	same, used := 0, 0
	for i := range a.bins {
		if a.bins[i] == empty && b.bins[i] == empty {
			continue
		}
		used++
		if a.bins[i] == b.bins[i] {
			same++
		}
	}
	if used == 0 {
		return 0
	}
	return float64(same) / float64(used)
}

// Same reports whether Similarity is at least least, which after few bins most
// pairs cannot be.
func Same(a, b *Signature, least float64) bool {
	most := int((1 - least) * bins) // bins that may differ, if all are used
	for i, differ := 0, 0; i < bins; i++ {
		if a.bins[i] != b.bins[i] {
			if differ++; differ > most {
				return false
			}
		}
	}
	return Similarity(a, b) >= least
}

// mix is the finaliser of splitmix64.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
