package workbench_test

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"almanac/catalog"
	"almanac/catalog/sqlite"
	"almanac/retrieval/workbench"
)

func TestCase(t *testing.T) {
	store, err := sqlite.Open(t.Context(), sqlite.Config{Path: filepath.Join(t.TempDir(), "catalog.db")})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	c, err := store.PutCase(t.Context(), catalog.Case{Name: "harbour"}, "ada")
	if err != nil {
		t.Fatal(err)
	}
	queries := []catalog.CaseQuery{{ID: "q2", Text: "tides", Kind: "question"}, {ID: "q1", Text: "moon"}}
	if err := store.PutQueries(t.Context(), c.ID, queries, "ada"); err != nil {
		t.Fatal(err)
	}
	err = store.PutJudgments(t.Context(), c.ID, []catalog.Judgment{
		{Query: "q2", Target: "a.md", Judge: "person/ada", Grade: 3},
		{Query: "q2", Target: "a.md", Judge: "person/ben", Grade: 2},
		{Query: "q2", Target: "b.md", Judge: "import/file", Grade: 0},
		{Query: "q2", Target: "c.md", Judge: "model/m", Grade: 3},
		{Query: "q1", Target: "a.md", Judge: workbench.ClickJudge, Grade: 1},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		judges    []string
		queries   int
		judgments map[string]map[string]int
	}{
		{nil, 1, map[string]map[string]int{"q2": {"a.md": 3, "b.md": 0}}},
		{[]string{"person/ben"}, 1, map[string]map[string]int{"q2": {"a.md": 2}}},
		{[]string{"model/m", workbench.ClickJudge}, 2, map[string]map[string]int{"q2": {"c.md": 3}, "q1": {"a.md": 1}}},
	} {
		got, err := workbench.Judged(t.Context(), store, c, tt.judges...)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(tt.judgments, got.Judgments); d != "" || len(got.Queries) != tt.queries || got.Name != "harbour" {
			t.Errorf("%v: %d queries, judgments (-want +got):\n%s", tt.judges, len(got.Queries), d)
		}
	}
}
