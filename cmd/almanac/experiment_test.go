package main

import (
	"testing"
	"time"

	"almanac/catalog"
	"almanac/retrieval/workbench"
	"almanac/testing/wait"
)

// TestServeEvaluates: a case that is due is run by the process that writes the index.
func TestServeEvaluates(t *testing.T) {
	t.Parallel()
	at := newSite(t, 40)
	at.run(t, "sync")
	store := at.store(t)
	c, err := store.PutCase(t.Context(), catalog.Case{Name: "manual", Every: 24 * time.Hour}, "ada")
	if err == nil {
		err = store.PutQueries(t.Context(), c.ID, []catalog.CaseQuery{{ID: "a", Text: only(29)}}, "ada")
	}
	if err == nil {
		err = store.PutJudgments(t.Context(), c.ID, []catalog.Judgment{{Query: "a", Target: "manual/page-029.md",
			Judge: "person/ada", Grade: 3}})
	}
	if err != nil {
		t.Fatal(err)
	}
	at.serve(t)
	wait.Until(t, "the case is run", func() bool {
		runs, err := workbench.ListRuns(t.Context(), store, c.ID, 0)
		if err != nil {
			t.Fatal(err)
		}
		if len(runs) == 0 {
			return false
		}
		if r := runs[0]; r.By != workbench.BySchedule || r.Profile != "live" || r.Report.NDCG10 != 1 || r.Version == "" {
			t.Errorf("run %+v", r)
		}
		return true
	})
}
