package eval_test

import (
	"math"
	"testing"

	"almanac/retrieval/eval"
)

// TestKappaEqualsScikitLearn holds values of scikit-learn 1.9.1, computed by
// cohen_kappa_score(a, b, weights=w, labels=[0, 1, 2, 3]) for w None, "linear"
// and "quadratic".
func TestKappaEqualsScikitLearn(t *testing.T) {
	for _, tt := range []struct {
		a, b []int
		want [3]float64
	}{
		{[]int{0, 1, 2, 3, 3, 2, 1, 0, 0, 3}, []int{0, 1, 3, 3, 2, 2, 0, 0, 1, 3},
			[3]float64{0.45945945945945954, 0.7014925373134329, 0.8620689655172413}},
		{[]int{0, 0, 0, 1, 1, 2, 3, 3}, []int{0, 0, 1, 1, 2, 2, 3, 0},
			[3]float64{0.4893617021276596, 0.5, 0.46341463414634143}},
		{[]int{0, 3, 0, 3, 0, 3}, []int{3, 0, 3, 0, 3, 0}, [3]float64{-1, -1, -1}},
		{[]int{0, 0, 0, 0, 3}, []int{0, 0, 0, 3, 3},
			[3]float64{0.5454545454545454, 0.5454545454545454, 0.5454545454545454}},
		{[]int{1, 1, 2, 2, 3}, []int{1, 1, 2, 2, 3}, [3]float64{1, 1, 1}},
	} {
		for w, want := range tt.want {
			if got := eval.Kappa(tt.a, tt.b, eval.Weighting(w)); math.Abs(got-want) > 1e-12 {
				t.Errorf("%v and %v, weighting %d: %v, want %v", tt.a, tt.b, w, got, want)
			}
		}
	}
	for _, same := range [][]int{nil, {2, 2, 2}} {
		if got := eval.Kappa(same, same, eval.Linear); !math.IsNaN(got) {
			t.Errorf("%v with itself: %v, want no number", same, got)
		}
	}
}
