package eval_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"almanac/retrieval/eval"
	"almanac/retrieval/ranking"
	"almanac/testing/race"
)

// base is a profile that weighs one feature wrongly.
func base() ranking.Profile {
	return ranking.Profile{
		Name: "base", Version: 4, Weights: map[string]float64{"title_bm25": 1}, Unweighted: []string{"authority"},
	}
}

func TestTuneFindsBetterWeights(t *testing.T) {
	race.Skip(t)
	examples := slices.Concat(planted("harbour", 300, truth, 1), planted("canal", 200, truth, 2))
	var steps []int
	o := eval.TuneOptions{L2: []float64{0.01, 1e6}, Folds: 5, Seed: 1,
		Progress: func(done, total int) { steps = append(steps, done, total) }}
	tuned, err := eval.Tune(t.Context(), base(), examples, o)
	if err != nil {
		t.Fatal(err)
	}
	if tuned.Penalty != 0.01 {
		t.Errorf("the penalty is %g: the other leaves no weight", tuned.Penalty)
	}
	if want := []int{1, 4, 2, 4, 3, 4, 4, 4}; !slices.Equal(steps, want) {
		t.Errorf("progress %v, want %v", steps, want)
	}
	all := tuned.All
	if all.Queries != 500 || all.OutOfFold < all.Before+0.1 || *all.LeftOut < all.Before+0.1 ||
		all.Comparison.P > 0.01 {
		t.Errorf("means %+v", all)
	}
	if len(tuned.Parts) != 2 || tuned.Parts[0].Name != "canal" || tuned.Parts[1].Name != "harbour" {
		t.Fatalf("collections %+v", tuned.Parts)
	}
	one, other := tuned.Parts[0], tuned.Parts[1]
	if one.Queries != 200 || one.Before == all.Before {
		t.Errorf("means of a collection %+v", one)
	}
	// Every collection counts the same, whatever its size.
	if mean := (one.Fitted + other.Fitted) / 2; math.Abs(mean-all.Fitted) > 1e-12 {
		t.Errorf("the mean of all is %g, of the two collections %g", all.Fitted, mean)
	}
	p := tuned.Profile()
	if p.Version != 5 || p.Name != "base" || math.Abs(p.Weights["document_bm25"]-1.2) > 0.3 {
		t.Errorf("profile %+v", p)
	}
	if _, weighed := p.Weights["authority"]; weighed {
		t.Error("a feature that the profile leaves out has a weight")
	}
	if tuned.Base.Weights["title_bm25"] != 1 {
		t.Error("the base is changed")
	}
}

func TestTuneMeasuresTheProfile(t *testing.T) {
	examples := planted("harbour", 60, truth, 1)
	tuned, err := eval.Tune(t.Context(), base(), examples, eval.TuneOptions{L2: []float64{0.1}, Folds: 3})
	if err != nil {
		t.Fatal(err)
	}
	if tuned.All.LeftOut != nil {
		t.Error("of one collection none is left out")
	}
	want := eval.Score(examples, ranking.Model{Weights: ranking.Vector{ranking.TitleBM25: 1}}, eval.Example.NDCG)
	if got := tuned.All.Before; got != want.Mean(examples) {
		t.Errorf("before %g, want %g", got, want.Mean(examples))
	}
}

func TestTuneStops(t *testing.T) {
	examples := planted("harbour", 30, truth, 1)
	ctx, cancel := context.WithCancel(t.Context())
	steps := 0
	o := eval.TuneOptions{L2: []float64{0.1, 1, 10}, Folds: 3, Progress: func(int, int) { steps++; cancel() }}
	if _, err := eval.Tune(ctx, base(), examples, o); !errors.Is(err, context.Canceled) || steps != 1 {
		t.Errorf("after it was cancelled %d steps were done: %v", steps, err)
	}
	unknown := base()
	unknown.Unweighted = []string{"fame"}
	if _, err := eval.Tune(t.Context(), unknown, examples, o); err == nil {
		t.Error("a profile that leaves out an unknown feature is tuned")
	}
	if _, err := eval.Tune(t.Context(), base(), examples[:1],
		eval.TuneOptions{L2: []float64{1}, Folds: 2}); err == nil {
		t.Error("one query is tuned on")
	}
}
