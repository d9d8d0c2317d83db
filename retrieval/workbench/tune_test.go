package workbench_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"almanac/catalog"
	"almanac/catalog/sqlstore"
	"almanac/retrieval/eval"
	"almanac/retrieval/ranking"
	"almanac/retrieval/workbench"
)

// school is a runner over the topics, with a case of a query for each.
func school(t *testing.T) (workbench.Runner, *sqlstore.Store, catalog.Case) {
	t.Helper()
	x, store, _ := open(t)
	c, err := store.PutCase(t.Context(), catalog.Case{Name: "topics"}, "ada")
	if err != nil {
		t.Fatal(err)
	}
	var queries []catalog.CaseQuery
	var judgments []catalog.Judgment
	for i, topic := range topics {
		q := catalog.CaseQuery{ID: topic, Text: "what is the " + topic, Kind: []string{"first", "second"}[i%2]}
		queries = append(queries, q)
		judgments = append(judgments, catalog.Judgment{Query: topic, Target: topic + ".md", Judge: "person/ada", Grade: 3})
	}
	if err := errors.Join(store.PutQueries(t.Context(), c.ID, queries, "ada"),
		store.PutJudgments(t.Context(), c.ID, judgments)); err != nil {
		t.Fatal(err)
	}
	return x, store, c
}

// fit does a TuneTask.
func fit(t *testing.T, x workbench.Runner, task workbench.TuneTask) (workbench.Fit, error) {
	t.Helper()
	last, all := 0, 0
	f, err := do[workbench.Fit](t.Context(), x, task, func(done, total int) {
		if done < last {
			t.Errorf("progress goes back from %d to %d", last, done)
		}
		last, all = done, total
	})
	if err == nil && (last != all || all == 0) {
		t.Errorf("it ends at %d of %d", last, all)
	}
	return f, err
}

func TestAGainOnHeldOutQueriesBecomesARevision(t *testing.T) {
	x, store, c := school(t)
	save(t, store, "bad", worst)
	a := workbench.Defaults()
	a.Case, a.Profile, a.Name = c.ID, "bad@1", "mine"
	f, err := fit(t, x, a)
	if err != nil {
		t.Fatal(err)
	}
	if f.Saved == nil || f.Saved.String() != "mine@1" || !f.All.Gains() || f.All.OutOfFold <= f.All.Before ||
		f.All.Queries != len(topics) {
		t.Fatalf("from the worst weights it learns %+v, saved %v", f.All, f.Saved)
	}
	if f.All.Low > f.All.Difference || f.All.High < f.All.Difference {
		t.Errorf("the interval %+v does not hold the difference %g", f.All.Interval, f.All.Difference)
	}
	if len(f.Kinds) != 2 || f.Kinds[0].Queries+f.Kinds[1].Queries != len(topics) {
		t.Errorf("kinds %+v", f.Kinds)
	}
	if len(f.Weights) == 0 || !slices.ContainsFunc(f.Weights, func(w eval.TuningWeight) bool {
		return w.Before < 0 && w.After > 0
	}) {
		t.Errorf("no weight turns around: %+v", f.Weights)
	}
	r, err := store.Revision(t.Context(), catalog.ProfileRevision, "mine", 1)
	if err != nil || r.By != "ada" {
		t.Fatalf("%+v, %v", r, err)
	}
	p, err := ranking.Parse([]byte(r.Data))
	if err != nil || p.Name != "mine" || !strings.Contains(p.Provenance, "seed 1") {
		t.Errorf("the revision is %+v, %v", p, err)
	}
	if live, _, err := store.Published(t.Context()); err != nil || len(live) > 0 {
		t.Errorf("it is published: %v, %v", live, err)
	}

	again, err := fit(t, x, a)
	if err != nil || again.Saved == nil || again.Saved.String() != "mine@2" {
		t.Fatalf("again: %v, %v", again.Saved, err)
	}
	twin, err := store.Revision(t.Context(), catalog.ProfileRevision, "mine", 2)
	if err != nil || twin.Data != r.Data {
		t.Errorf("the same seed gives another profile: %v\n%s\n%s", err, r.Data, twin.Data)
	}
	again.Saved = f.Saved
	one, other := fmt.Sprintf("%+v", f), fmt.Sprintf("%+v", again)
	if one != other {
		t.Errorf("the same seed finds something else:\n%s\n%s", one, other)
	}
}

func TestWhatMayBeChanceIsNotSaved(t *testing.T) {
	x, store, c := school(t)
	a := workbench.Defaults()
	a.Case = c.ID
	f, err := fit(t, x, a)
	if err != nil {
		t.Fatal(err)
	}
	if f.Saved != nil || f.All.Gains() || f.Profile != "configured" {
		t.Errorf("from weights that find everything it learns %+v, saved %v", f.All, f.Saved)
	}
	if all, err := store.Revisions(t.Context(), catalog.ProfileRevision); err != nil || len(all) > 0 {
		t.Errorf("saved are %v, %v", all, err)
	}
}

func TestWhatCannotBeFittedSaysWhy(t *testing.T) {
	x, store, c := school(t)
	save(t, store, "fused", func(p *ranking.Profile) { p.Order = "fusion" })
	for want, change := range map[string]func(*workbench.TuneTask){
		"folds need 40":     func(a *workbench.TuneTask) { a.Folds = 20 },
		"2 to 20 folds":     func(a *workbench.TuneTask) { a.Folds = 1 },
		"above 0":           func(a *workbench.TuneTask) { a.L2 = []float64{0} },
		"1 to 10 penalties": func(a *workbench.TuneTask) { a.L2 = nil },
		"cannot be the":     func(a *workbench.TuneTask) { a.Name = "../x" },
		"is fusion":         func(a *workbench.TuneTask) { a.Profile = "fused@1" },
		"not found":         func(a *workbench.TuneTask) { a.Profile = "none@1" },
		"no query is":       func(a *workbench.TuneTask) { a.Judges = []string{"person/ben"} },
		"case 99":           func(a *workbench.TuneTask) { a.Case = 99 },
	} {
		a := workbench.Defaults()
		a.Case = c.ID
		change(&a)
		if _, err := fit(t, x, a); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want an error with %q, got %v", want, err)
		}
	}
	if _, err := x.Jobs()["tune"](t.Context(), catalog.Request{Kind: "tune", Argument: "{"}, nil); err == nil {
		t.Error("an argument that is no JSON is done")
	}
	a := workbench.Defaults()
	a.Case = c.ID
	ctx, cancel := context.WithCancel(t.Context())
	_, err := do[workbench.Fit](ctx, x, a, func(done, _ int) {
		if done > len(topics) { // the signals are there
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled it ends with %v", err)
	}
}
