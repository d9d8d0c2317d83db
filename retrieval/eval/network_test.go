package eval_test

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"go.yaml.in/yaml/v3"

	"almanac/catalog"
	"almanac/catalog/sqlstore"
	"almanac/retrieval"
	"almanac/retrieval/eval"
	"almanac/retrieval/ranking"
	"almanac/retrieval/workbench"
)

// holdTuning fits profiles to the judged queries of a real network: it gains on held-out
// queries, or leaves the profile as it is.
func holdTuning(t *testing.T, r *ranker) {
	queries, err := eval.Load(filepath.Join(shared(t), "judged", "network-dev"))
	if err != nil {
		t.Skipf("there are no judged queries: %v", err)
	}
	p, err := ranking.Load(ranking.DefaultName)
	if err != nil {
		t.Fatal(err)
	}
	x := workbench.Runner{Index: r, Source: ranking.Source{Store: r.store,
		Base: retrieval.Relevance{Profiles: []ranking.Profile{p}, Aliases: r.network.Aliases}}}
	c := put(t, r.store, queries)
	bare := p // as somebody begins who has no judgments
	bare.Weights = map[string]float64{"passage_bm25": 1}
	data, err := yaml.Marshal(bare)
	if err == nil {
		_, err = ranking.SaveProfile(t.Context(), r.store, catalog.Revision{Name: "bare", Data: string(data)})
	}
	if err != nil {
		t.Fatal(err)
	}
	for from, gains := range map[string]bool{"configured": false, "bare@1": true} {
		a := workbench.Defaults()
		a.Case, a.Profile, a.Name = c.ID, from, "fitted"
		argument, err := json.Marshal(a)
		if err != nil {
			t.Fatal(err)
		}
		result, err := x.Jobs()[a.Kind()](t.Context(), catalog.Request{Kind: a.Kind(), Argument: string(argument)},
			func(int, int) {})
		if err != nil {
			t.Fatal(err)
		}
		f := result.(workbench.Fit)
		t.Logf("from %s: %.4f before, %.4f out of fold, p %.4f, saved %v", from, f.All.Before, f.All.OutOfFold, f.All.P,
			f.Saved)
		if saved := f.Saved != nil; saved != (f.All.P < .05 && f.All.OutOfFold > f.All.Before) {
			t.Errorf("from %s it finds %+v and saves %v", from, f.All, f.Saved)
		}
		if gains && f.Saved == nil {
			t.Errorf("from %s it learns nothing: %+v", from, f.All)
		}
	}
}

// put stores judged queries as a case.
func put(t *testing.T, store *sqlstore.Store, of eval.Collection) catalog.Case {
	t.Helper()
	c, err := store.PutCase(t.Context(), catalog.Case{Name: of.Name}, "ada")
	if err != nil {
		t.Fatal(err)
	}
	var queries []catalog.CaseQuery
	var judgments []catalog.Judgment
	for _, q := range of.Queries {
		queries = append(queries, catalog.CaseQuery{ID: q.ID, Text: q.Text, Kind: q.Kind})
		for target, grade := range of.Judgments[q.ID] {
			judgments = append(judgments, catalog.Judgment{Query: q.ID, Target: target, Judge: workbench.ImportJudge + of.Name,
				Grade: grade})
		}
	}
	if err := store.PutQueries(t.Context(), c.ID, queries, "ada"); err != nil {
		t.Fatal(err)
	}
	if err := store.PutJudgments(t.Context(), c.ID, judgments); err != nil {
		t.Fatal(err)
	}
	return c
}
