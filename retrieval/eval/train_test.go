package eval_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"almanac/retrieval"
	"almanac/retrieval/eval"
	"almanac/retrieval/ranking"
	"almanac/testing/race"
)

// planted makes queries whose relevant document was drawn with the chances
// that a linear model gives: what training has to find.
func planted(collection string, n int, weights ranking.Vector, seed uint64) []eval.Example {
	random := rand.New(rand.NewPCG(seed, 1))
	examples := make([]eval.Example, n)
	for i := range examples {
		x := eval.Example{Collection: collection, Query: eval.Query{ID: fmt.Sprintf("%s-%d", collection, i)}, Ideal: 1}
		total := 0.0
		chances := make([]float64, 20)
		for d := range chances {
			var z ranking.Vector
			for f := range z {
				z[f] = random.NormFloat64()
			}
			x.Z, x.Raw, x.Grades = append(x.Z, z), append(x.Raw, ranking.Vector{}), append(x.Grades, 0)
			chances[d] = math.Exp(ranking.Model{Weights: weights}.Score(z, ranking.Vector{}))
			total += chances[d]
		}
		at := random.Float64() * total
		d := 0
		for at > chances[d] && d < len(chances)-1 {
			at -= chances[d]
			d++
		}
		x.Grades[d] = 1
		x.Copies, x.Preference = make([][]int, len(x.Z)), make([]int, len(x.Z))
		for d := range x.Z {
			x.Documents, x.Places = append(x.Documents, fmt.Sprint(d)), append(x.Places, d)
		}
		examples[i] = x
	}
	return examples
}

var truth = ranking.Vector{ranking.DocumentBM25: 1.2, ranking.Dense: 0.8, ranking.TitleBM25: -0.5, ranking.Window: 0.3}

func TestTrainFindsPlantedWeights(t *testing.T) {
	race.Skip(t)
	m, err := eval.Train(planted("a", 3000, truth, 1), eval.TrainOptions{L2: 1e-6})
	if err != nil {
		t.Fatal(err)
	}
	for f := range truth {
		// The standard error of a weight is about 1/√3000 of its curvature.
		if !near(m.Weights[f], truth[f], 0.1) {
			t.Errorf("%s: %.3f, want %.3f", ranking.Feature(f), m.Weights[f], truth[f])
		}
	}
}

func TestTrain(t *testing.T) {
	examples := planted("a", 200, truth, 2)
	train := func(examples []eval.Example, o eval.TrainOptions) ranking.Model {
		t.Helper()
		m, err := eval.Train(examples, o)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	plain := train(examples, eval.TrainOptions{L2: 0.01})
	t.Run("a larger penalty gives smaller weights", func(t *testing.T) {
		if heavy := train(examples,
			eval.TrainOptions{L2: 10}); heavy.Weights[ranking.Dense] > plain.Weights[ranking.Dense]/4 {
			t.Errorf("weight %.3f, %.3f with a light one", heavy.Weights[ranking.Dense], plain.Weights[ranking.Dense])
		}
	})
	t.Run("skipped features have no weight", func(t *testing.T) {
		got := train(examples,
			eval.TrainOptions{L2: 0.01, Skip: map[ranking.Feature]bool{ranking.Dense: true, ranking.Recency: true}})
		if got.Weights[ranking.Dense] != 0 || got.Weights[ranking.Recency] != 0 || got.Weights[ranking.DocumentBM25] == 0 {
			t.Errorf("weights %v", got.Weights)
		}
	})
	t.Run("fixed rules are kept and counted in", func(t *testing.T) {
		fixed := ranking.Vector{ranking.Identifier: 2}
		if got := train(examples, eval.TrainOptions{L2: 0.01, Fixed: fixed}); got.Fixed != fixed {
			t.Errorf("fixed %v", got.Fixed)
		}
	})
	t.Run("what teaches nothing changes nothing", func(t *testing.T) {
		idle := planted("a", 1, truth, 3)[0]
		idle.Grades = make([]int, len(idle.Grades))
		// It counts as a query of its collection, but a collection of its own
		// would take half the weight.
		more := append(slices.Clone(examples), eval.Example{Collection: "a"}, idle)
		got := train(more, eval.TrainOptions{L2: 0.01 * 200 / 202})
		for f := range plain.Weights {
			if !near(got.Weights[f], plain.Weights[f], 1e-6) {
				t.Errorf("%s: %.6f, want %.6f", ranking.Feature(f), got.Weights[f], plain.Weights[f])
			}
		}
	})
	t.Run("a page that has copies counts once", func(t *testing.T) {
		copied := slices.Clone(examples)
		for i, x := range copied {
			n := len(x.Z)
			x.Z, x.Raw, x.Grades = append(slices.Clip(x.Z), x.Z[0], x.Z[0]),
				append(slices.Clip(x.Raw), x.Raw[0], x.Raw[0]), append(slices.Clip(x.Grades), x.Grades[0], x.Grades[0])
			x.Copies, x.Preference = make([][]int, n+2), make([]int, n+2)
			x.Documents = append(slices.Clip(x.Documents), "a copy", "another")
			x.Copies[0], x.Copies[n], x.Copies[n+1] = []int{n, n + 1}, []int{0, n + 1}, []int{0, n}
			copied[i] = x
		}
		got := train(copied, eval.TrainOptions{L2: 0.01})
		for f := range plain.Weights {
			if !near(got.Weights[f], plain.Weights[f], 1e-6) {
				t.Errorf("%s: %.6f, want %.6f", ranking.Feature(f), got.Weights[f], plain.Weights[f])
			}
		}
	})
	t.Run("collections count the same, however many queries they have", func(t *testing.T) {
		other := planted("b", 20, ranking.Vector{ranking.Dense: -1}, 4)
		twice := planted("b", 20, ranking.Vector{ranking.Dense: -1}, 4)
		once := train(slices.Concat(examples, other), eval.TrainOptions{L2: 0.01})
		again := train(slices.Concat(examples, other, twice), eval.TrainOptions{L2: 0.01})
		for f := range once.Weights {
			if !near(once.Weights[f], again.Weights[f], 1e-6) {
				t.Errorf("%s: %.6f, doubled %.6f", ranking.Feature(f), once.Weights[f], again.Weights[f])
			}
		}
	})
	t.Run("the same examples give the same digits", func(t *testing.T) {
		for range 3 {
			if got := train(examples, eval.TrainOptions{L2: 0.01}); got != plain {
				t.Fatalf("%v, before %v", got, plain)
			}
		}
	})
	t.Run("without a penalty dependent features are an error", func(t *testing.T) {
		flat := eval.Example{Collection: "a", Z: make([]ranking.Vector, 2), Raw: make([]ranking.Vector, 2),
			Grades:    []int{1, 0},
			Documents: []string{"x", "y"}, Copies: make([][]int, 2), Preference: make([]int, 2)}
		if _, err := eval.Train([]eval.Example{flat}, eval.TrainOptions{}); err == nil ||
			!strings.Contains(err.Error(), "penalty") {
			t.Errorf("error %v", err)
		}
	})
}

func TestFoldsAreStable(t *testing.T) {
	var got []int
	for _, id := range []string{"nd-001", "nd-002", "1", "efc09699", "query with spaces", ""} {
		got = append(got, eval.Fold(eval.Query{ID: id}, 5, 1))
	}
	if want := []int{4, 4, 4, 1, 3, 2}; !slices.Equal(got, want) {
		t.Errorf("folds %v, want %v", got, want)
	}
	count := make([]int, 5)
	for i := range 5000 {
		count[eval.Fold(eval.Query{ID: fmt.Sprint("q", i)}, 5, 9)]++
	}
	if slices.Min(count) < 900 || slices.Max(count) > 1100 {
		t.Errorf("folds hold %v of 5000 queries", count)
	}
}

func TestHeldOutQueriesAreNotSeen(t *testing.T) {
	// Noise can be learned by heart only: what the model saw scores better than
	// what it did not.
	noise := slices.Concat(planted("a", 40, ranking.Vector{}, 5), planted("b", 40, ranking.Vector{}, 6))
	o := eval.TrainOptions{L2: 1e-4}
	m, err := eval.Train(noise, o)
	if err != nil {
		t.Fatal(err)
	}
	fitted := eval.Score(noise, m, eval.Example.NDCG).Mean(noise)
	for name, hold := range map[string]func() (eval.Values, error){
		"folds":       func() (eval.Values, error) { return eval.OutOfFold(noise, o, eval.Example.NDCG, 5, 1) },
		"collections": func() (eval.Values, error) { return eval.LeftOut(noise, o, eval.Example.NDCG) },
	} {
		values, err := hold()
		if err != nil {
			t.Fatal(err)
		}
		if held := values.Mean(noise); held > fitted-0.05 {
			t.Errorf("%s: %.3f held out, %.3f fitted", name, held, fitted)
		}
	}
	if _, err := eval.LeftOut(noise[:40], o, eval.Example.NDCG); err == nil {
		t.Error("one collection was left out of itself")
	}
	if _, err := eval.OutOfFold(noise[:1], o, eval.Example.NDCG, 5, 1); err == nil {
		t.Error("one query was held out of itself")
	}
}

func TestEveryCollectionCountsTheSame(t *testing.T) {
	examples := []eval.Example{{Collection: "a"}, {Collection: "a"}, {Collection: "b"}}
	if mean := (eval.Values{.2, .4, 1}).Mean(examples); !near(mean, .65, 1e-12) {
		t.Errorf("the mean is %v", mean)
	}
	if w := eval.Balance(examples); !near(w[0], .75, 1e-12) || !near(w[2], 1.5, 1e-12) {
		t.Errorf("weights %v", w)
	}
}

// signals answers with fixed signals.
type signals map[string][]retrieval.Signal

func (s signals) Signals(_ context.Context, r retrieval.Request) ([]retrieval.Signal, error) {
	if r.Query == "down" {
		return nil, errors.New("engine is down")
	}
	of, ok := s[r.Query]
	if !ok {
		return nil, retrieval.ErrBadQuery
	}
	return of, nil
}

func TestExamples(t *testing.T) {
	c, names, _ := small()
	z := func(x float64) ranking.Vector { return ranking.Vector{ranking.Dense: x} }
	s := signals{"one": {{Record: 3, Z: z(3), Copies: []int{1}, Preference: 1}, {Record: 4, Z: z(2), Copies: []int{0}},
		{Record: 2, Z: z(1)}, {Record: 7}, {Record: 1, Z: z(0)}}, "two": nil}
	examples, err := eval.Examples(t.Context(), s, c, eval.Options{Names: names})
	if err != nil {
		t.Fatal(err)
	}
	// A record without a name and a query that cannot be read do not count.
	if len(examples) != 2 || !slices.Equal(examples[0].Grades, []int{0, 1, 1, 2}) {
		t.Fatalf("examples %+v", examples)
	}
	best := 3 + 1/math.Log2(3)
	if got := examples[0].NDCG(ranking.Model{Weights: z(1)}); !near(got, (1/math.Log2(3)+3/math.Log2(4))/best, 1e-12) {
		t.Errorf("nDCG %v by a model, in which a document counts once", got)
	}
	if got := examples[0].Shown(ranking.Model{Weights: z(1)}); !near(got, (1/math.Log2(3)+3/math.Log2(4))/best, 1e-12) {
		t.Errorf("nDCG %v of what is shown: of a document whose first record is hidden as a copy the second is", got)
	}
	if got := examples[0].NDCG(ranking.Model{Weights: z(-1)}); !near(got, 1, 1e-12) {
		t.Errorf("nDCG %v by its reverse, want 1", got)
	}
	if got := examples[1].NDCG(ranking.Model{}); got != 0 {
		t.Errorf("nDCG %v without candidates", got)
	}
	c.Queries[1].Text = "down"
	if _, err := eval.Examples(t.Context(), s, c, eval.Options{Names: names}); err == nil ||
		!strings.Contains(err.Error(), "q2") {
		t.Errorf("error %v, want one that names the query", err)
	}
}
