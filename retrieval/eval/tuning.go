package eval

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
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

// Tuning is the result of Tune: the weights, and what they are worth.
type Tuning struct {
	Base   ranking.Profile // whose retrievers, rules and floor are kept
	Before ranking.Model   // of Base
	Model  ranking.Model   // fitted on all examples
	Learned
}

// Learned is what a tuning learned, and how well it holds on queries it has not seen.
type Learned struct {
	Penalty float64        `json:"penalty"` // the one that was taken
	All     TuningPart     `json:"all"`
	Parts   []TuningPart   `json:"collections,omitempty"` // if there are several
	Kinds   []TuningPart   `json:"kinds"`                 // by the kinds that the collections give their queries
	Weights []TuningWeight `json:"weights"`               // those that changed, the most first
	Same    []string       `json:"same"`                  // features whose weights stay
}

// TuningPart is the mean nDCG@10 of a part of the examples, each collection weighted equally: with
// the weights before, with weights fitted on them, on other folds, and on other collections; for
// the latter two also with copies collapsed, as users see them.
type TuningPart struct {
	Name           string   `json:"name"`
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

// luck is the p-value from which a gain may be chance, so that the weights stay.
const luck = 0.05

// Gains reports whether held-out queries gain more than by chance.
func (p TuningPart) Gains() bool { return p.Difference > 0 && p.P < luck }

// TuningWeight is a weight that the fit changed.
type TuningWeight struct {
	Feature string  `json:"feature"`
	Before  float64 `json:"before"`
	After   float64 `json:"after"`
}

// tuningValues are nDCG@10 of every example as a TuningPart has their means.
type tuningValues struct {
	before, fitted, outOfFold, leftOut, shownOutOfFold, shownLeftOut Values
}

// Tune fits the weights of a profile. It takes the penalty with the best mean
// over collections out of fold, fits with it on everything, and measures on
// queries that were held out. The same examples and options give the same
// weights to the bit.
func Tune(ctx context.Context, base ranking.Profile, examples []Example, o TuneOptions) (Tuning, error) {
	t, values := Tuning{Base: base}, tuningValues{}
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
			held, err := OutOfFold(examples, train, Example.NDCG, o.Folds, o.Seed)
			if err != nil {
				return err
			}
			if mean := held.Mean(examples); mean > best {
				best, t.Penalty, values.outOfFold = mean, l2, held
			}
			return nil
		})
	}
	train.L2 = t.Penalty
	step(func() (err error) {
		t.Model, err = Train(examples, train)
		return err
	})
	step(func() (err error) {
		values.before, values.fitted = Score(examples, t.Before, Example.NDCG), Score(examples, t.Model, Example.NDCG)
		values.shownOutOfFold, err = OutOfFold(examples, train, Example.Shown, o.Folds, o.Seed)
		if err == nil && len(collections(examples)) > 1 {
			values.leftOut, err = LeftOut(examples, train, Example.NDCG)
		}
		if err == nil && values.leftOut != nil {
			values.shownLeftOut, err = LeftOut(examples, train, Example.Shown)
		}
		return err
	})
	if err == nil {
		t.describe(examples, values)
	}
	return t, err
}

// describe says what the tuning learned.
func (t *Tuning) describe(examples []Example, values tuningValues) {
	part := func(name string, has func(Example) bool) TuningPart { return values.part(examples, name, has) }
	t.All = part("all", func(Example) bool { return true })
	if names := slices.Sorted(slices.Values(collections(examples))); len(names) > 1 {
		for _, name := range names {
			t.Parts = append(t.Parts, part(name, func(x Example) bool { return x.Collection == name }))
		}
	}
	kinds := map[string]bool{}
	for _, x := range examples {
		kinds[x.Query.Kind] = true
	}
	delete(kinds, "")
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		t.Kinds = append(t.Kinds, part(kind, func(x Example) bool { return x.Query.Kind == kind }))
	}
	for i := range ranking.NumFeatures {
		w := TuningWeight{ranking.Feature(i).String(), t.Before.Weights[i], t.Model.Weights[i]}
		if math.Abs(w.After-w.Before) < 5e-4 { // less than is shown
			t.Same = append(t.Same, w.Feature)
			continue
		}
		t.Weights = append(t.Weights, w)
	}
	slices.SortStableFunc(t.Weights, func(a, b TuningWeight) int {
		return cmp.Compare(math.Abs(b.After-b.Before), math.Abs(a.After-a.Before))
	})
}

// part returns the means over those of the examples that a part has.
func (v tuningValues) part(all []Example, name string, has func(Example) bool) TuningPart {
	var examples []Example
	var at []int
	for i, x := range all {
		if has(x) {
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
	before, held, weights := of(v.before), of(v.outOfFold), Balance(examples)
	differences := make([]float64, len(examples))
	for i, weight := range weights {
		differences[i] = (held[i] - before[i]) * weight
	}
	p := TuningPart{Name: name, Queries: len(examples), Before: before.Mean(examples), Fitted: mean(v.fitted),
		OutOfFold: held.Mean(examples), ShownOutOfFold: mean(v.shownOutOfFold),
		Comparison: Compare(held, before, weights), Interval: Bootstrap(differences)}
	p.Against = "before"
	if v.leftOut != nil {
		p.LeftOut, p.ShownLeftOut = new(mean(v.leftOut)), new(mean(v.shownLeftOut))
	}
	return p
}

// Profile returns the next version of the base with the fitted weights. Its
// name and provenance are the caller's to change.
func (t Tuning) Profile() ranking.Profile {
	p := t.Base
	p.Version++
	p.Weights = map[string]float64{}
	for f := range ranking.NumFeatures {
		if w := math.Round(t.Model.Weights[f]*1e4) / 1e4; w != 0 { // what matters
			p.Weights[ranking.Feature(f).String()] = w
		}
	}
	return p
}

// Tables shows it: the gain by collection and by kind of query, and the weights.
func (l Learned) Tables() []Table {
	weights := Table{{"feature", "before", fmt.Sprintf("fitted (L2 %g)", l.Penalty)}}
	for _, w := range l.Weights {
		weights.Add(w.Feature, fmt.Sprintf("%.3f", w.Before), fmt.Sprintf("%.3f", w.After))
	}
	collections := append(slices.Clone(l.Parts), l.All)
	return []Table{partTable("nDCG@10", collections), partTable("kind of query", l.Kinds), weights}
}

// partTable has a row for each part. The difference is between out of fold and before.
func partTable(title string, parts []TuningPart) Table {
	t := Table{{title, "queries", "before", "fitted", "out of fold", "collection left out", "difference", "p",
		"out of fold, collapsed", "left out, collapsed"}}
	known := func(mean *float64) string {
		if mean == nil {
			return "-"
		}
		return four(*mean)
	}
	for _, p := range parts {
		t.Add(p.Name, fmt.Sprint(p.Queries), four(p.Before), four(p.Fitted), four(p.OutOfFold), known(p.LeftOut),
			fmt.Sprintf("%+.4f", p.Difference), four(p.P), four(p.ShownOutOfFold), known(p.ShownLeftOut))
	}
	return t
}

// Fold returns which of n folds a query belongs to, from its id and a seed.
func Fold(q Query, n int, seed uint64) int {
	h := fnv.New64a()
	fmt.Fprintf(h, "%d %s", seed, q.ID)
	x := h.Sum64()
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	return int(x % uint64(n))
}

// Gauge measures an order: Example.NDCG or Example.Shown.
type Gauge func(Example, ranking.Model) float64

// Values holds the nDCG@10 of each of some examples, in their order.
type Values []float64

// Score measures a model on examples.
func Score(examples []Example, m ranking.Model, by Gauge) Values {
	out := make(Values, len(examples))
	for i, x := range examples {
		out[i] = by(x, m)
	}
	return out
}

// Mean is the mean over collections of the means of their examples.
func (v Values) Mean(examples []Example) float64 {
	sums, counts := map[string]float64{}, map[string]float64{}
	for i, x := range examples {
		sums[x.Collection] += v[i]
		counts[x.Collection]++
	}
	mean := 0.0
	for _, name := range slices.Sorted(maps.Keys(sums)) {
		mean += sums[name] / counts[name]
	}
	return mean / math.Max(1, float64(len(sums)))
}

// OutOfFold trains on all folds but one and measures on that one, for each fold.
func OutOfFold(examples []Example, o TrainOptions, by Gauge, folds int, seed uint64) (Values, error) {
	return holdOut(examples, o, by, folds, func(x Example) int { return Fold(x.Query, folds, seed) })
}

// LeftOut trains on all collections but one and measures on that one, for each
// collection. There must be at least two.
func LeftOut(examples []Example, o TrainOptions, by Gauge) (Values, error) {
	names := collections(examples)
	return holdOut(examples, o, by, len(names), func(x Example) int { return slices.Index(names, x.Collection) })
}

// holdOut trains on all parts but one and measures on that one, for each part.
func holdOut(examples []Example, o TrainOptions, by Gauge, parts int, part func(Example) int) (Values, error) {
	out := make(Values, len(examples))
	for p := range parts {
		var seen []Example
		for _, x := range examples {
			if part(x) != p {
				seen = append(seen, x)
			}
		}
		if len(seen) == len(examples) {
			continue // nothing to measure on
		}
		if !slices.ContainsFunc(seen, Example.teaches) {
			return nil, errors.New("eval: too few queries to hold some of them out")
		}
		m, err := Train(seen, o)
		if err != nil {
			return nil, err
		}
		for i, x := range examples {
			if part(x) == p {
				out[i] = by(x, m)
			}
		}
	}
	return out, nil
}

// Balance returns weights that make every collection count the same, however
// many examples it has; their mean is 1.
func Balance(examples []Example) []float64 {
	count := map[string]int{}
	for _, x := range examples {
		count[x.Collection]++
	}
	out := make([]float64, len(examples))
	for i, x := range examples {
		out[i] = float64(len(examples)) / float64(count[x.Collection]*len(count))
	}
	return out
}

// collections lists the names of the examples' collections in their order.
func collections(examples []Example) []string {
	var names []string
	for _, x := range examples {
		if !slices.Contains(names, x.Collection) {
			names = append(names, x.Collection)
		}
	}
	return names
}
