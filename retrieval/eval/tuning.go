package eval

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"

	"almanac/retrieval/profile"
	"almanac/retrieval/rerank"
)

// The thresholds for giving a class of queries its own weights, measured out of
// fold: the gain in nDCG@10, and the p-value of Compare. A class of few queries
// gains or loses a hundredth by chance.
const (
	classGain = 0.003
	classLuck = 0.05
)

// TuneOptions are the choices of Tune.
type TuneOptions struct {
	L2      []float64 // penalties to try; the best out of fold is taken
	Folds   int
	Seed    uint64 // of the folds
	Classes bool   // whether classes of queries may get their own weights
	// Progress is called with the number of steps done; nil: not called.
	Progress func(done, total int)
}

// Tuning is the result of Tune: the weights and their measurements.
type Tuning struct {
	Base    profile.Profile // whose retrievers, rules and floor are kept
	Before  rerank.Model    // of Base, without its classes
	Model   rerank.Model    // fitted on all examples
	L2      float64         // the penalty that was taken
	Classes []ClassFit      // every class that was tried; Taken says which gain

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
func Tune(ctx context.Context, base profile.Profile, examples []Example, o TuneOptions) (Tuning, error) {
	t := Tuning{Base: base, Examples: examples}
	train, err := trainOptions(base)
	if err != nil {
		return t, err
	}
	t.Before = rerank.Model{Weights: vectorOf(base.Weights), Fixed: train.Fixed}
	done, total := 0, len(o.L2)+3
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
			if mean := values.Held(examples).Mean(); mean > best {
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
		t.Values.Before, t.Values.Fitted = scoreBefore(base, examples, t.Before), Score(examples, t.Model, Example.NDCG)
		t.Values.ShownOutOfFold, err = OutOfFold(examples, train, Example.Shown, o.Folds, o.Seed)
		if err != nil || len(collections(examples)) < 2 {
			return err
		}
		if t.Values.LeftOut, err = LeftOut(examples, train, Example.NDCG); err == nil {
			t.Values.ShownLeftOut, err = LeftOut(examples, train, Example.Shown)
		}
		return err
	})
	step(func() (err error) {
		if o.Classes {
			t.Classes, err = FitClasses(examples, t.Model, t.Values.OutOfFold, train, o.Folds, o.Seed)
		}
		return err
	})
	return t, err
}

// trainOptions returns the training options in a profile.
func trainOptions(base profile.Profile) (TrainOptions, error) {
	o := TrainOptions{Fixed: vectorOf(base.Fixed), Skip: map[rerank.Feature]bool{}}
	for _, name := range base.Unweighted {
		f, ok := rerank.FeatureNamed(name)
		if !ok {
			return o, fmt.Errorf("profile %s: there is no feature %q", base.Name, name)
		}
		o.Skip[f] = true
	}
	return o, nil
}

func vectorOf(weights map[string]float64) (v rerank.Vector) {
	for name, w := range weights {
		if f, ok := rerank.FeatureNamed(name); ok {
			v[f] = w
		}
	}
	return v
}

// scoreBefore measures a profile's weights, including those of its classes.
func scoreBefore(base profile.Profile, examples []Example, common rerank.Model) Values {
	out := Score(examples, common, Example.NDCG)
	for i, x := range examples {
		if own, ok := base.Classes[x.Class]; ok {
			out[i] = x.NDCG(rerank.Model{Weights: vectorOf(own), Fixed: common.Fixed})
		}
	}
	return out
}

// TuningMeans are means of nDCG@10 over a part of the examples, each collection weighted equally.
type TuningMeans struct {
	Queries                                   int
	Before, Fitted, OutOfFold, ShownOutOfFold float64
	LeftOut, ShownLeftOut                     *float64   // nil if there is only one collection
	Comparison                                Comparison // of out of fold with before
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
	mean := func(v Values) float64 { return of(v).Held(examples).Mean() }
	m := TuningMeans{Queries: len(examples), Before: mean(t.Values.Before), Fitted: mean(t.Values.Fitted),
		OutOfFold: mean(t.Values.OutOfFold), ShownOutOfFold: mean(t.Values.ShownOutOfFold),
		Comparison: Compare(of(t.Values.OutOfFold), of(t.Values.Before), Balance(examples))}
	m.Comparison.Against = "before"
	if t.Values.LeftOut != nil {
		m.LeftOut, m.ShownLeftOut = new(mean(t.Values.LeftOut)), new(mean(t.Values.ShownLeftOut))
	}
	return m
}

// Taken reports whether a class gains enough by its own weights.
func (f ClassFit) Taken() bool { return f.Difference >= classGain && f.P <= classLuck }

// TakenClasses returns the classes that get their own weights.
func (t Tuning) TakenClasses() []ClassFit {
	return slices.DeleteFunc(slices.Clone(t.Classes), func(f ClassFit) bool { return !f.Taken() })
}

// Profile returns the next version of the base with the fitted weights. Its
// name and provenance are the caller's to change.
func (t Tuning) Profile() profile.Profile {
	p := t.Base
	p.Version++
	p.Weights, p.Classes = weightsOf(t.Model), nil
	for _, f := range t.TakenClasses() {
		if p.Classes == nil {
			p.Classes = map[string]map[string]float64{}
		}
		p.Classes[f.Class] = weightsOf(f.Model)
	}
	return p
}

// Collections returns the names of the examples' collections, sorted.
func (t Tuning) Collections() []string {
	return slices.Sorted(slices.Values(collections(t.Examples)))
}

// ClassNames returns the classes of the examples' queries, sorted.
func (t Tuning) ClassNames() []string { return slices.Sorted(maps.Keys(byClass(t.Examples))) }

// weightsOf returns a model's weights by name, rounded to what matters.
func weightsOf(m rerank.Model) map[string]float64 {
	weights := map[string]float64{}
	for f := range rerank.NumFeatures {
		if w := math.Round(m.Weights[f]*1e4) / 1e4; w != 0 {
			weights[rerank.Feature(f).String()] = w
		}
	}
	return weights
}
