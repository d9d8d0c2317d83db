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
	type item = topk.Item[int, int]
	var top topk.Top[int, int]
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.IntRange(1, 12).Draw(t, "k")
		top.Reset(k, func(a, b int) int { return a - b })
		var all []item
		for id, score := range rapid.SliceOfN(rapid.IntRange(0, 9), 0, 60).Draw(t, "scores") {
			id = id * 37 % 61 // in no order
			all = append(all, item{score, id})
			slices.SortFunc(all, func(a, b item) int {
				return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Item, b.Item))
			})
			head := all[:min(k, len(all))]
			wants := slices.Contains(head, item{score, id})
			if top.Wants(score, id) != wants {
				t.Fatalf("it wants %d of %d: %v", id, score, !wants)
			}
			if wants {
				top.Add(score, id)
			}
			if least, full := top.Least(); full != (len(all) >= k) || full && least != head[k-1].Score {
				t.Fatalf("least %d, full %v of %v", least, full, head)
			}
		}
		if got := top.Best(); !slices.Equal(got, all[:min(k, len(all))]) {
			t.Fatalf("%v of %v", got, all)
		}
	})
}
