package releases

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"almanac/api/kb/find"
	"almanac/catalog"
	"almanac/retrieval"
)

func TestExplanations(t *testing.T) {
	hits := []find.Match{
		{Record: catalog.Record{Kind: catalog.KindIssue, State: "open", Body: "fails with TOO_OLD and ERR-17"},
			Relevance: 1, Result: retrieval.Result{Snippet: "s"}},
		{Record: catalog.Record{Kind: catalog.KindDoc, Title: "ERR-17"}, Relevance: 0.8},
		{Record: catalog.Record{Kind: catalog.KindPost, Body: "too old"}, Relevance: 0.6},
	}
	type row struct {
		Why, Snippet string
		Weight       float64
	}
	rows := func(identifiers ...string) (out []row) {
		for _, p := range explain(hits, identifiers) {
			out = append(out, row{p.Why, p.Snippet, p.Weight})
		}
		return out
	}
	if diff := cmp.Diff([]row{
		{"open issue that names TOO_OLD, ERR-17", "s", 1}, {"documentation that names ERR-17", "", 0.8},
		{"forum post that is near in words or meaning", "", 0.3},
	}, rows("TOO_OLD", "ERR-17")); diff != "" {
		t.Error(diff)
	}
	if got := rows()[2].Weight; got != 0.6 {
		t.Errorf("without identifiers it weighs %v, want 0.6", got)
	}
	if kinds := explainingKinds(); !slices.Contains(kinds, catalog.KindFAQ) ||
		slices.Contains(kinds, catalog.KindCIP) {
		t.Errorf("%v", kinds)
	}
}
