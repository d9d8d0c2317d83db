package eval_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"almanac/retrieval/eval"
)

func TestFloor(t *testing.T) {
	r := eval.Report{Collection: "small", Profile: "p", Queries: 4, Measures: eval.Measures{NDCG10: .6, MRR: .5}}
	for name, tt := range map[string]struct {
		floor  eval.Floor
		failed int
		want   []string
	}{
		"none":         {nil, 1, nil},
		"at the floor": {eval.Floor{"ndcg10": .6, "mrr": .4}, 0, nil},
		"under one": {eval.Floor{"ndcg10": .6, "mrr": .52}, 0,
			[]string{"small, p: MRR is 0.5000, 0.0200 under its floor of 0.5200"}},
		"a failure": {eval.Floor{"ndcg10": .6}, 1, []string{"small, p: 1 of 4 searches failed or were incomplete"}},
	} {
		r.Failed = tt.failed
		if got := tt.floor.Under(r); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
	for _, tt := range []struct {
		floor eval.Floor
		want  string
	}{
		{eval.Floor{"ndcg10": .6, "precision": .1}, `no measure "precision": known are ndcg10, mrr`},
		{eval.Floor{"mrr": 60}, "the floor of mrr is 60"},
		{eval.Floor{"mrr": math.NaN()}, "the floor of mrr is NaN"},
	} {
		if err := tt.floor.Check(); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%v: %v, want %q", tt.floor, err, tt.want)
		}
	}
}
