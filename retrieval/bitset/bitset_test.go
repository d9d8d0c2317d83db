package bitset_test

import (
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"almanac/retrieval/bitset"
)

// TestASetIsASet compares with a map.
func TestASetIsASet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 300).Draw(t, "n")
		draw := func() (bitset.Set, map[int]bool) {
			s, want := bitset.New(n), map[int]bool{}
			for range rapid.IntRange(0, 8).Draw(t, "changes") {
				lo := rapid.IntRange(0, n-1).Draw(t, "from")
				hi := rapid.IntRange(lo, n).Draw(t, "to")
				s.SetRange(lo, hi)
				for i := lo; i < hi; i++ {
					want[i] = true
				}
				s.Clear(lo)
				delete(want, lo)
				s.Set(n - 1)
				want[n-1] = true
			}
			return s, want
		}
		a, in := draw()
		b, also := draw()
		a.And(b)
		maps.DeleteFunc(in, func(i int, _ bool) bool { return !also[i] })
		if got, want := slices.Collect(a.All), slices.Sorted(maps.Keys(in)); !slices.Equal(got, want) ||
			a.Count() != len(want) {
			t.Fatalf("%v, %d in all; want %v", got, a.Count(), want)
		}
		for i := range n {
			if a.Has(i) != in[i] {
				t.Fatalf("has %d: %v", i, a.Has(i))
			}
		}
		if full := bitset.Full(n); full.Count() != n || len(full) != bitset.Words(n) {
			t.Fatalf("a full one has %d of %d", full.Count(), n)
		}
	})
}
