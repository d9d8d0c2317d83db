package embedded

import "math/bits"

// bitset is a set of document numbers of one segment.
type bitset []uint64

func newBitset(n int) bitset { return make(bitset, (n+63)/64) }

func fullBitset(n int) bitset {
	b := newBitset(n)
	b.setRange(0, n)
	return b
}

func (b bitset) has(i int) bool { return b[i>>6]&(1<<(i&63)) != 0 }
func (b bitset) set(i int)      { b[i>>6] |= 1 << (i & 63) }
func (b bitset) clear(i int)    { b[i>>6] &^= 1 << (i & 63) }

// setRange sets the bits lo ≤ i < hi.
func (b bitset) setRange(lo, hi int) {
	for lo < hi && lo&63 != 0 {
		b.set(lo)
		lo++
	}
	for ; lo+64 <= hi; lo += 64 {
		b[lo>>6] = ^uint64(0)
	}
	for ; lo < hi; lo++ {
		b.set(lo)
	}
}

func (b bitset) clearRange(lo, hi int) {
	for ; lo < hi; lo++ {
		b.clear(lo)
	}
}

func (b bitset) count() int {
	n := 0
	for _, w := range b {
		n += bits.OnesCount64(w)
	}
	return n
}

// and keeps the bits that o has too.
func (b bitset) and(o bitset) {
	for i := range b {
		b[i] &= o[i]
	}
}

// all yields the members in ascending order.
func (b bitset) all(yield func(int) bool) {
	for i, w := range b {
		for ; w != 0; w &= w - 1 {
			if !yield(i<<6 + bits.TrailingZeros64(w)) {
				return
			}
		}
	}
}
