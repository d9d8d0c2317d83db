package workbench_test

import (
	"path/filepath"
	"testing"
	"time"

	"almanac/catalog"
	"almanac/catalog/sqlite"
	"almanac/catalog/sqlstore"
	"almanac/retrieval/ranking"
	"almanac/retrieval/workbench"
)

func TestACaseIsRunWhenItsTimeHasCome(t *testing.T) {
	path := filepath.Join(t.TempDir(), "catalog.db")
	reopen := func() *sqlstore.Store {
		store, err := sqlite.Open(t.Context(), sqlite.Config{Path: path})
		if err != nil {
			t.Fatal(err)
		}
		return store
	}
	store := reopen()
	ids := map[string]int64{}
	for name, every := range map[string]time.Duration{"daily": 24 * time.Hour, "hourly": time.Hour, "never": 0} {
		c, err := store.PutCase(t.Context(), catalog.Case{Name: name, Every: every}, "ada")
		if err != nil {
			t.Fatal(err)
		}
		ids[name] = c.ID
	}
	start := time.Date(2030, 1, 1, 12, 0, 0, 0, time.UTC)
	// due asks at a time and returns the cases of the requests that are open then.
	due := func(after time.Duration) (cases []int64) {
		t.Helper()
		if err := workbench.Due(t.Context(), store, start.Add(after)); err != nil {
			t.Fatal(err)
		}
		open, err := store.Requests(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range open {
			a, err := workbench.TaskOf[workbench.EvalTask](r)
			if err != nil || r.By != workbench.BySchedule || len(a.Profiles) != 1 || a.Profiles[0] != ranking.Live {
				t.Errorf("request %+v (%v)", r, err)
			}
			cases = append(cases, a.Case)
		}
		return cases
	}
	finish := func() {
		t.Helper()
		open, err := store.Requests(t.Context())
		if err == nil {
			err = store.FinishRequest(t.Context(), open[0].ID, "", "engine is down")
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	// Both are due; they are run one after the other, whatever becomes of them.
	first := due(0)
	if again := due(time.Minute); len(first) != 1 || len(again) != 1 || first[0] != again[0] {
		t.Fatalf("at the start %v, then %v: want one at a time", first, again)
	}
	finish()
	second := due(2 * time.Minute)
	if len(second) != 1 || second[0]+first[0] != ids["daily"]+ids["hourly"] {
		t.Fatalf("then %v, after %v", second, first)
	}
	finish()
	// A restart repeats nothing.
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	store = reopen()
	defer store.Close()
	if got := due(30 * time.Minute); len(got) != 0 {
		t.Fatalf("after a restart %v", got)
	}
	// After a week without a process each is run once, the longest due first.
	if got := due(7 * 24 * time.Hour); len(got) != 1 || got[0] != ids["hourly"] {
		t.Fatalf("after a week %v, want the hourly", got)
	}
	finish()
	if got := due(7*24*time.Hour + time.Minute); len(got) != 1 || got[0] != ids["daily"] {
		t.Fatalf("then %v, want the daily", got)
	}
	finish()
	if got := due(7*24*time.Hour + 2*time.Minute); len(got) != 0 {
		t.Fatalf("then %v, want none", got)
	}
}
