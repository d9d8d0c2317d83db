package derive_test

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"testing"

	"almanac/catalog"
	"almanac/catalog/derive"
)

// Whoever writes a fact removes what it has no more by the kind it makes.
func TestEveryFactIsWhole(t *testing.T) {
	names, made := map[string]bool{}, map[catalog.Kind]bool{}
	for _, f := range derive.Facts {
		if f.Name == "" || f.Make == nil || names[f.Name] || made[f.Of] {
			t.Errorf("fact %q of %s is not one of its own", f.Name, f.Of)
		}
		names[f.Name], made[f.Of] = true, true
		for _, k := range []catalog.Kind{f.Texts, f.Links} {
			if k != "" && !slices.Contains(f.From, k) {
				t.Errorf("%s reads more of %s than it is made of", f.Name, k)
			}
		}
		if got, err := f.Make(t.Context(), derive.Input{}); err != nil || len(got) > 0 {
			t.Errorf("%s makes %d entries of nothing (%v)", f.Name, len(got), err)
		}
	}
}

// ending is a context that is cancelled when it has been looked at as often as it may be.
type ending struct {
	context.Context
	looks *int
}

func (e ending) Err() error {
	if *e.looks--; *e.looks < 0 {
		return context.Canceled
	}
	return nil
}

// Making a fact ends between two records if it is cancelled, and gives nothing.
func TestFactsCanBeCancelled(t *testing.T) {
	in := derive.Input{}
	for _, kind := range []catalog.Kind{catalog.KindRelease, catalog.KindProject, catalog.KindOperation} {
		for i := range 3 {
			r := notes("2.0.0", "- BREAKING: The door opens inwards now.\n")
			r.ID, r.Kind, r.Key = int64(i), kind, strconv.Itoa(i)
			in[kind] = append(in[kind], catalog.Entry{Record: r})
		}
	}
	for _, f := range derive.Facts {
		for _, looks := range []int{0, 2} {
			made, err := f.Make(ending{t.Context(), &looks}, in)
			if !errors.Is(err, context.Canceled) || made != nil || looks != -1 {
				t.Errorf("%s makes %d entries (%v), and looked %d times more", f.Name, len(made), err, -1-looks)
			}
		}
	}
}
