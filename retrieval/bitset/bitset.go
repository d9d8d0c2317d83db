// Package bitset holds sets of small numbers as bits: documents of a segment,
// rows of an index.
package bitset

import "math/bits"

// Set has a bit for each number from 0; its capacity is a multiple of 64.
type Set []uint64

// Words returns how many words hold the numbers below n.
func Words(n int) int { return (n + 63) / 64 }

// New returns an empty set for the numbers below n.
func New(n int) Set { return make(Set, Words(n)) }

// Full returns the set of all numbers below n.
func Full(n int) Set {
	s := New(n)
	s.SetRange(0, n)
	return s
}

// Has reports whether i is in the set.
func (s Set) Has(i int) bool { return s[i>>6]&(1<<(i&63)) != 0 }

// Set adds i.
func (s Set) Set(i int) { s[i>>6] |= 1 << (i & 63) }

// Clear removes i.
func (s Set) Clear(i int) { s[i>>6] &^= 1 << (i & 63) }

// SetRange adds lo ≤ i < hi.
func (s Set) SetRange(lo, hi int) {
	for lo < hi {
		at := lo & 63
		here := min(hi-lo, 64-at)
		s[lo>>6] |= ^uint64(0) >> (64 - here) << at
		lo += here
	}
}

// Count returns how many are in the set.
func (s Set) Count() (n int) {
	for _, w := range s {
		n += bits.OnesCount64(w)
	}
	return n
}

// And keeps what o has too.
func (s Set) And(o Set) {
	for i := range s {
		s[i] &= o[i]
	}
}

// All yields the members in ascending order.
func (s Set) All(yield func(int) bool) {
	for i, w := range s {
		for ; w != 0; w &= w - 1 {
			if !yield(i<<6 + bits.TrailingZeros64(w)) {
				return
			}
		}
	}
}
