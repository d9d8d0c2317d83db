package eval_test

import (
	"math"
	"testing"

	"almanac/retrieval/eval"
)

// TestKappaEqualsScikitLearn holds values of scikit-learn 1.9.1, computed by
// cohen_kappa_score(a, b, weights="quadratic", labels=[0, 1, 2, 3]).
func TestKappaEqualsScikitLearn(t *testing.T) {
	for _, tt := range []struct {
		a, b []int
		want float64
	}{
		{[]int{0, 1, 2, 3, 3, 2, 1, 0, 0, 3}, []int{0, 1, 3, 3, 2, 2, 0, 0, 1, 3}, 0.8620689655172413},
		{[]int{0, 0, 0, 1, 1, 2, 3, 3}, []int{0, 0, 1, 1, 2, 2, 3, 0}, 0.46341463414634143},
		{[]int{0, 3, 0, 3, 0, 3}, []int{3, 0, 3, 0, 3, 0}, -1},
		{[]int{0, 0, 0, 0, 3}, []int{0, 0, 0, 3, 3}, 0.5454545454545454},
		{[]int{1, 1, 2, 2, 3}, []int{1, 1, 2, 2, 3}, 1},
	} {
		if got := eval.Kappa(tt.a, tt.b); math.Abs(got-tt.want) > 1e-12 {
			t.Errorf("%v and %v: %v, want %v", tt.a, tt.b, got, tt.want)
		}
	}
	for _, same := range [][]int{nil, {2, 2, 2}} {
		if got := eval.Kappa(same, same); !math.IsNaN(got) {
			t.Errorf("%v with itself: %v, want no number", same, got)
		}
	}
}
