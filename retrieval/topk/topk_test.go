package topk_test

import (
	"cmp"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"almanac/retrieval/topk"
)

// TestTopIsTheHeadOfTheSorted uses one Top again and again.
func TestTopIsTheHeadOfTheSorted(t *testing.T) {
	type item struct{ score, id int }
	better := func(a, b item) int { return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.id, b.id)) }
	var top topk.Top[item]
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.IntRange(1, 12).Draw(t, "k")
		top.Reset(k, better)
		var all []item
		for id, score := range rapid.SliceOfN(rapid.IntRange(0, 9), 0, 60).Draw(t, "scores") {
			x := item{score, id}
			all = append(all, x)
			slices.SortFunc(all, better)
			head := all[:min(k, len(all))]
			if wants := slices.Contains(head, x); top.Wants(x) != wants {
				t.Fatalf("it wants %v: %v", x, !wants)
			}
			top.Add(x)
			if top.Full() != (len(all) >= k) || top.Worst() != head[len(head)-1] {
				t.Fatalf("full %v, the worst is %v of %v", top.Full(), top.Worst(), head)
			}
		}
		if got := top.Best(); !slices.Equal(got, all[:min(k, len(all))]) {
			t.Fatalf("%v of %v", got, all)
		}
	})
}
