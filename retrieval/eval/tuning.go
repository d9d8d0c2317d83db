package eval

import (
	"context"
	"fmt"
	"math"
	"slices"

	"almanac/retrieval/ranking"
)

// TuneOptions are the choices of Tune.
type TuneOptions struct {
	L2    []float64 // penalties to try; the best out of fold is taken
	Folds int
	Seed  uint64 // of the folds
	// Progress is called with the number of steps done; nil: not called.
	Progress func(done, total int)
}

// Tuning is the result of Tune: the weights and their measurements.
type Tuning struct {
	Base   ranking.Profile // whose retrievers, rules and floor are kept
	Before ranking.Model   // of Base
	Model  ranking.Model   // fitted on all examples
	L2     float64         // the penalty that was taken

	// Examples are those fitted on, and Values the nDCG@10 of each.
	Examples []Example
	Values   TuningValues
}

// TuningValues are nDCG@10 of every example with the weights before, with
// weights fitted on it, on other folds, and on other collections (nil if there
// is only one); for the latter two also with copies collapsed, as users see
// them.
type TuningValues struct {
	Before, Fitted, OutOfFold, LeftOut, ShownOutOfFold, ShownLeftOut Values
}

// Tune fits the weights of a profile. It takes the penalty with the best mean
// over collections out of fold, fits with it on everything, and measures on
// queries that were held out. The same examples and options give the same
// weights to the bit.
func Tune(ctx context.Context, base ranking.Profile, examples []Example, o TuneOptions) (Tuning, error) {
	t := Tuning{Base: base, Examples: examples}
	before, err := base.Model()
	if err != nil {
		return t, err
	}
	t.Before = before
	train := TrainOptions{Fixed: before.Fixed, Skip: map[ranking.Feature]bool{}}
	for _, name := range base.Unweighted {
		f, ok := ranking.FeatureNamed(name)
		if !ok {
			return t, fmt.Errorf("profile %s: there is no feature %q", base.Name, name)
		}
		train.Skip[f] = true
	}
	done, total := 0, len(o.L2)+2
	step := func(work func() error) {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return
		}
		if err = work(); err == nil && o.Progress != nil {
			done++
			o.Progress(done, total)
		}
	}
	best := math.Inf(-1)
	for _, l2 := range o.L2 {
		step(func() error {
			train.L2 = l2
			values, err := OutOfFold(examples, train, Example.NDCG, o.Folds, o.Seed)
			if err != nil {
				return err
			}
			if mean := values.Mean(examples); mean > best {
				best, t.L2, t.Values.OutOfFold = mean, l2, values
			}
			return nil
		})
	}
	train.L2 = t.L2
	step(func() (err error) {
		t.Model, err = Train(examples, train)
		return err
	})
	step(func() (err error) {
		t.Values.Before, t.Values.Fitted = Score(examples, t.Before, Example.NDCG), Score(examples, t.Model, Example.NDCG)
		t.Values.ShownOutOfFold, err = OutOfFold(examples, train, Example.Shown, o.Folds, o.Seed)
		if err != nil || len(collections(examples)) < 2 {
			return err
		}
		if t.Values.LeftOut, err = LeftOut(examples, train, Example.NDCG); err == nil {
			t.Values.ShownLeftOut, err = LeftOut(examples, train, Example.Shown)
		}
		return err
	})
	return t, err
}

// TuningMeans are means of nDCG@10 over a part of the examples, each collection weighted equally; see TuningValues.
type TuningMeans struct {
	Queries        int      `json:"queries"`
	Before         float64  `json:"before"`
	Fitted         float64  `json:"fitted"`
	OutOfFold      float64  `json:"out_of_fold"`
	ShownOutOfFold float64  `json:"shown_out_of_fold"`
	LeftOut        *float64 `json:"left_out,omitempty"` // nil if there is only one collection
	ShownLeftOut   *float64 `json:"shown_left_out,omitempty"`
	Comparison              // of out of fold with before
	Interval                // of the difference
}

// Means returns the means over the examples for which part holds.
func (t Tuning) Means(part func(Example) bool) TuningMeans {
	var examples []Example
	var at []int
	for i, x := range t.Examples {
		if part(x) {
			examples, at = append(examples, x), append(at, i)
		}
	}
	of := func(v Values) Values {
		out := make(Values, len(at))
		for i, from := range at {
			out[i] = v[from]
		}
		return out
	}
	mean := func(v Values) float64 { return of(v).Mean(examples) }
	before, held, weights := of(t.Values.Before), of(t.Values.OutOfFold), Balance(examples)
	differences := make([]float64, len(examples))
	for i, weight := range weights {
		differences[i] = (held[i] - before[i]) * weight
	}
	m := TuningMeans{Queries: len(examples), Before: before.Mean(examples), Fitted: mean(t.Values.Fitted),
		OutOfFold: held.Mean(examples), ShownOutOfFold: mean(t.Values.ShownOutOfFold),
		Comparison: Compare(held, before, weights), Interval: Bootstrap(differences)}
	m.Against = "before"
	if t.Values.LeftOut != nil {
		m.LeftOut, m.ShownLeftOut = new(mean(t.Values.LeftOut)), new(mean(t.Values.ShownLeftOut))
	}
	return m
}

// Profile returns the next version of the base with the fitted weights. Its
// name and provenance are the caller's to change.
func (t Tuning) Profile() ranking.Profile {
	p := t.Base
	p.Version++
	p.Weights = weightsOf(t.Model)
	return p
}

// Collections returns the names of the examples' collections, sorted.
func (t Tuning) Collections() []string {
	return slices.Sorted(slices.Values(collections(t.Examples)))
}

// weightsOf returns a model's weights by name, rounded to what matters.
func weightsOf(m ranking.Model) map[string]float64 {
	weights := map[string]float64{}
	for f := range ranking.NumFeatures {
		if w := math.Round(m.Weights[f]*1e4) / 1e4; w != 0 {
			weights[ranking.Feature(f).String()] = w
		}
	}
	return weights
}
