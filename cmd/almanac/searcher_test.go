package main

import (
	"context"
	"slices"
	"testing"

	"almanac/api/admin"
	"almanac/retrieval"
)

// traced notes that a search passed it.
type traced struct {
	retrieval.Searcher
	name   string
	passed *[]string
}

func (s traced) Search(ctx context.Context, r retrieval.Request) (retrieval.Response, error) {
	*s.passed = append(*s.passed, s.name)
	return s.Searcher.Search(ctx, r)
}

type foundNothing struct{ retrieval.Searcher }

func (foundNothing) Search(context.Context, retrieval.Request) (retrieval.Response, error) {
	return retrieval.Response{}, nil
}

// TestDecorators holds that a search passes the decorators in the order in which doctor
// prints them, and that a command without one leaves it out.
func TestDecorators(t *testing.T) {
	var passed, names []string
	all := decorators(admin.NewMetrics().Searcher)
	for i, d := range all {
		names = append(names, d.name)
		all[i].around = func(s retrieval.Searcher) retrieval.Searcher {
			return traced{d.around(s), d.name, &passed}
		}
	}
	if _, err := decorate(foundNothing{}, all).Search(t.Context(), retrieval.Request{}); err != nil {
		t.Fatal(err)
	}
	if want := []string{"admit", "metrics"}; !slices.Equal(names, want) || !slices.Equal(passed, want) {
		t.Errorf("listed %v, passed %v, want %v", names, passed, want)
	}
	if _, err := decorate(foundNothing{}, decorators(nil)).Search(t.Context(), retrieval.Request{}); err != nil {
		t.Error(err)
	}
}
