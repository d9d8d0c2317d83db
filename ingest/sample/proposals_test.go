package sample_test

import (
	"slices"
	"testing"

	"almanac/catalog"
)

// TestProposalsHaveHistories looks for what pages about proposals show:
// proposals that went from draft over review to final, drafts that have no
// number yet, and chains of prerequisites.
func TestProposalsHaveHistories(t *testing.T) {
	c := synced(t)
	steps := map[string][]string{}
	for _, e := range slices.Backward(c.events) { // newest first
		if e.Field == "status" {
			steps[e.Ref.Key] = append(steps[e.Ref.Key], e.To)
		}
	}
	final := 0
	for _, of := range steps {
		draft, review := slices.Index(of, "Draft"), slices.Index(of, "Review")
		if at := slices.Index(of, "Final"); draft >= 0 && review > draft && at > review {
			final++
		}
	}
	if final < 3 {
		t.Errorf("%d proposals went from draft over review to final", final)
	}
	requires, unnumbered := map[string][]string{}, 0
	for _, r := range c.records {
		if r.Kind != catalog.KindCIP {
			continue
		}
		if d := decode[catalog.CIP](t, r); d.Number == "" {
			unnumbered++
		} else {
			requires[r.Key] = d.Requires
		}
	}
	var depth func(key string) int
	depth = func(key string) int {
		deepest := 0
		for _, of := range requires[key] {
			deepest = max(deepest, 1+depth(of))
		}
		return deepest
	}
	deep := 0
	for key := range requires {
		if depth(key) >= 3 {
			deep++
		}
	}
	if unnumbered < 4 || deep < 2 {
		t.Errorf("%d drafts without a number, %d proposals with prerequisites three deep", unnumbered, deep)
	}
}
