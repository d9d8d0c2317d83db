package embedded

import "math/bits"

// bitset has a bit per row.
type bitset []uint64

func words(rows int) int { return (rows + 63) / 64 }

func (b bitset) has(row int) bool { return b[row/64]>>(row%64)&1 != 0 }

func (b bitset) set(row int) { b[row/64] |= 1 << (row % 64) }

// setRange sets n rows from first.
func (b bitset) setRange(first, n int) {
	for n > 0 {
		at := first % 64
		here := min(n, 64-at)
		b[first/64] |= ^uint64(0) >> (64 - here) << at
		first, n = first+here, n-here
	}
}

func (b bitset) clear(row int) { b[row/64] &^= 1 << (row % 64) }

func (b bitset) count() (n int) {
	for _, w := range b {
		n += bits.OnesCount64(w)
	}
	return n
}
