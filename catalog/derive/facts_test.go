package derive_test

import (
	"slices"
	"testing"

	"almanac/catalog"
	"almanac/catalog/derive"
)

// Whoever writes a fact removes what it has no more by the kind it makes.
func TestEveryFactIsWhole(t *testing.T) {
	names, made := map[string]bool{}, map[catalog.Kind]bool{}
	for _, f := range derive.Facts {
		if f.Name == "" || f.Rules == "" || f.Make == nil || names[f.Name] || made[f.Of] {
			t.Errorf("fact %q of %s with rules %q is not one of its own", f.Name, f.Of, f.Rules)
		}
		names[f.Name], made[f.Of] = true, true
		for _, k := range []catalog.Kind{f.Texts, f.Links} {
			if k != "" && !slices.Contains(f.From, k) {
				t.Errorf("%s reads more of %s than it is made of", f.Name, k)
			}
		}
		if got := f.Make(derive.Input{}); len(got) > 0 {
			t.Errorf("%s makes %d entries of nothing", f.Name, len(got))
		}
	}
}
