package kb_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"almanac/api/admit"
	"almanac/api/kb"
	"almanac/api/op"
	"almanac/retrieval"
	"almanac/retrieval/passage"
)

// failing is a searcher that fails.
type failing struct{ err error }

func (f failing) Search(context.Context, retrieval.Request) (retrieval.Response, error) {
	return retrieval.Response{}, f.err
}

func (failing) Status(context.Context) retrieval.Status { return retrieval.Status{} }

func TestARefusedSearchSaysWhenToTryAgain(t *testing.T) {
	_, err := kb.Base{Search: failing{admit.ErrBusy}}.Find(t.Context(), "q", retrieval.Request{Query: "x"})
	e, ok := errors.AsType[*op.Error](err)
	if !ok || e.Kind != op.ErrUnavailable || e.RetryAfter != time.Second || e.Message != "too many searches at once" {
		t.Errorf("error %#v", err)
	}
}

func TestAnEmptySearchSaysWhatEmptiedIt(t *testing.T) {
	for want, relaxed := range map[string][]retrieval.Relaxed{
		"there are 56 without the quotes around burn mint": {{Without: `"burn mint"`, Total: 56}},
		"there are 3 without kind:doc, 12 without -wallet": {{Without: "kind:doc", Total: 3},
			{Without: "-wallet", Total: 12}},
		`there are 2 without "burn mint" "mint it" -wallet`: {{Without: `"burn mint" "mint it" -wallet`, Total: 2}},
		"use fewer or other words":                          nil,
	} {
		if got := kb.EmptySearch(0, relaxed, passage.Filter{}); !strings.HasSuffix(got, want) {
			t.Errorf("%q, want %q at the end", got, want)
		}
	}
}
