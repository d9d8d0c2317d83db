package workbench_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"almanac/catalog"
	"almanac/retrieval/workbench"
)

func TestAgreements(t *testing.T) {
	got := workbench.Agreements([]catalog.Judgment{
		{Query: "q1", Target: "a", Judge: "person/ben", Grade: 3},
		{Query: "q1", Target: "b", Judge: "person/ben", Grade: 0},
		{Query: "q2", Target: "a", Judge: "person/ben", Grade: 1},
		{Query: "q1", Target: "a", Judge: "person/ada", Grade: 2},
		{Query: "q1", Target: "b", Judge: "person/ada", Grade: 3},
		{Query: "q2", Target: "a", Judge: "person/ada", Grade: 1},
		{Query: "q2", Target: "b", Judge: "model/m", Grade: 1}, // nobody else graded it
	})
	if len(got) != 1 || got[0].A != "person/ada" || got[0].B != "person/ben" || got[0].Pairs != 3 || got[0].Same != 1 {
		t.Fatalf("%+v", got)
	}
	want := []workbench.Disagreement{{Query: "q1", Target: "b", A: 3, B: 0}, {Query: "q1", Target: "a", A: 2, B: 3}}
	if d := cmp.Diff(want, got[0].Disagreements); d != "" {
		t.Error(d)
	}
}
