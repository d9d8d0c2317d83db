package main

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"almanac/catalog"
	"almanac/catalog/datadir"
	"almanac/catalog/sqlite"
	"almanac/retrieval/workbench"
	"almanac/testing/wait"
)

// TestServeEvaluates: what is asked for on the dashboard, and what is due, is done
// by the process that writes the index.
func TestServeEvaluates(t *testing.T) {
	t.Parallel()
	at := newSite(t, 40)
	s := at.serve(t)
	s.ready(t)
	store, err := sqlite.Open(t.Context(), sqlite.Config{Path: datadir.File(at.data)})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	c, err := store.PutCase(t.Context(), catalog.Case{Name: "manual"}, "ada")
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
	// stored waits for so many runs.
	stored := func(n int) (runs []workbench.Run) {
		t.Helper()
		wait.Until(t, fmt.Sprintf("there are %d runs", n), func() bool {
			var err error
			if runs, err = workbench.ListRuns(t.Context(), store, c.ID, 0); err != nil {
				t.Fatal(err)
			}
			return len(runs) >= n
		})
		return runs
	}
	post := func(path string, form url.Values) {
		t.Helper()
		r, err := http.NewRequest(http.MethodPost, s.admin+path, strings.NewReader(form.Encode()))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Origin", s.admin)
		res, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != http.StatusSeeOther {
			t.Fatalf("%s: status %d", path, res.StatusCode)
		}
	}
	post("/evaluation", url.Values{"case": {"1"}, "profile": {"live", "keyword-only"}})
	runs := stored(2)
	if r := runs[1]; r.Profile != "live" || r.Report.NDCG10 != 1 || r.Generation == 0 || r.Version == "" {
		t.Errorf("run %+v", r)
	}
	if runs[0].Profile != "keyword-only" || runs[0].Report.Comparison == nil {
		t.Errorf("run %+v", runs[0])
	}
	_, _, page := do(t, http.MethodGet, s.admin+"/evaluation/runs?run=1&run=2")
	if !strings.Contains(page, `keyword-only against live <span class="calm">configured</span>`) {
		t.Errorf("the page of the runs: %s", page)
	}
	// A case that is due is run in the process that serves next.
	post("/evaluation/schedule", url.Values{"case": {"1"}, "every": {"24h"}})
	if code := s.stop(t); code != 0 {
		t.Fatalf("exit code %d:\n%s", code, s.log)
	}
	s = at.serve(t)
	if r := stored(3)[0]; r.By != workbench.BySchedule || r.Profile != "live" {
		t.Errorf("run %+v", r)
	}
}
