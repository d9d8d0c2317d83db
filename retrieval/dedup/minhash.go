// Package dedup recognises near-identical texts by MinHash over word
// shingles.
package dedup

import (
	"encoding/binary"
	"math"
	"math/bits"

	"almanac/retrieval/analysis"
)

const (
	shingle = 5   // words
	bins    = 128 // standard error of the estimate near 0.8: 0.035
	empty   = math.MaxUint8
	// fewest is the number of shingles below which an estimate is meaningless;
	// shorter texts are the same only if they are equal.
	fewest = 24
)

// SignatureSize is the length of a signature in bytes.
const SignatureSize = bins + 4 + 8

// Signature summarises a text so that the Jaccard similarity of two texts'
// sets of five-word shingles can be estimated. One hash a shingle fills 128
// bins (Li, Owen, Zhang: One permutation hashing, NIPS 2012), of whose least
// only eight bits are kept (Li, König: b-bit minwise hashing, WWW 2010); empty
// bins are left out of the comparison. After the bins come the number of
// shingles and an order-dependent hash of the whole text.
type Signature string

// Sign makes a signature from a text's terms in order.
func Sign(terms []analysis.TermID) Signature {
	var least [bins]uint32
	for i := range least {
		least[i] = math.MaxUint32
	}
	var count uint32
	var all uint64
	var ring [shingle]uint64
	for i, t := range terms {
		x := mix(uint64(t))
		all = bits.RotateLeft64(all, 7) ^ x
		ring[i%shingle] = x
		if i+1 < shingle {
			continue
		}
		h := uint64(0)
		for j := range shingle { // oldest first
			h = mix(h ^ ring[(i+1+j)%shingle])
		}
		count++
		b := h >> 57
		least[b] = min(least[b], uint32(h))
	}
	s := make([]byte, bins, SignatureSize)
	for i, h := range least {
		s[i] = empty
		if h != math.MaxUint32 {
			s[i] = byte(mix(uint64(h)) % empty)
		}
	}
	s = binary.LittleEndian.AppendUint32(s, count)
	return Signature(binary.LittleEndian.AppendUint64(s, all))
}

// count returns the number of shingles.
func (s Signature) count() int {
	return int(s[bins]) | int(s[bins+1])<<8 | int(s[bins+2])<<16 | int(s[bins+3])<<24
}

// Similarity estimates the Jaccard similarity, 0 to 1.
func Similarity(a, b Signature) float64 {
	if a[bins:] == b[bins:] {
		return 1
	}
	least, most := min(a.count(), b.count()), max(a.count(), b.count())
	if least < fewest || 2*least < most {
		return 0 // Jaccard cannot exceed the ratio of the sizes
	}
	same, used := 0, 0
	for i := range bins {
		if a[i] == empty && b[i] == empty {
			continue
		}
		used++
		if a[i] == b[i] {
			same++
		}
	}
	const chance = 1.0 / empty // that two different hashes keep the same bits
	return max(0, (float64(same)/float64(used)-chance)/(1-chance))
}

// Same reports whether Similarity is at least the given one. Of most pairs the first
// few bins already show that it is not.
func Same(a, b Signature, least float64) bool {
	most := int((1 - least) * bins) // bins that may differ, if all are used
	for i, differ := 0, 0; i < bins; i += 8 {
		if differ += differing(a.uint64(i) ^ b.uint64(i)); differ > most {
			return false
		}
	}
	return Similarity(a, b) >= least
}

// differing returns the number of bytes that are not 0.
func differing(x uint64) int {
	const ones = 0x7f7f7f7f7f7f7f7f
	return bits.OnesCount64((x&ones + ones | x) &^ ones)
}

func (s Signature) uint64(at int) uint64 {
	w := s[at : at+8]
	return uint64(w[0]) | uint64(w[1])<<8 | uint64(w[2])<<16 | uint64(w[3])<<24 |
		uint64(w[4])<<32 | uint64(w[5])<<40 | uint64(w[6])<<48 | uint64(w[7])<<56
}

// mix is the finaliser of splitmix64.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
