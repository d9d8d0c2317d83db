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

	"almanac/retrieval"
	"almanac/retrieval/passage"
	"almanac/retrieval/rerank"
)

// Example is one judged query with the signals of its candidates.
type Example struct {
	Collection string
	Query      Query
	Class      string
	Z, Raw     []rerank.Vector
	Grades     []int   // of the candidates
	Ideal      float64 // discounted gain of the ideal ranking over all judgments
}

// Signaler is what training asks of the engine.
type Signaler interface {
	Signals(ctx context.Context, r retrieval.Request) (class string, signals []retrieval.Signal, err error)
}

// Examples computes the signals of every query of a collection.
func Examples(ctx context.Context, s Signaler, c Collection, o Options) ([]Example, error) {
	var filter passage.Filter
	if c.Pool != nil {
		filter.Records = pooled(c, o.Names)
	}
	var out []Example
	for i, q := range c.Queries {
		class, signals, err := s.Signals(ctx, retrieval.Request{Query: q.Text, Filter: filter, Profile: o.Profile})
		if err != nil {
			if errors.Is(err, retrieval.ErrBadQuery) {
				continue
			}
			return nil, fmt.Errorf("eval: query %s: %w", q.ID, err)
		}
		x := Example{Collection: c.Name, Query: q, Class: class, Ideal: ideal(c.Judgments[q.ID])}
		seen := map[string]bool{}
		for _, sig := range signals {
			name := o.Names[sig.Record]
			if name == "" || seen[name] {
				continue
			}
			seen[name] = true
			x.Z, x.Raw, x.Grades = append(x.Z, sig.Z), append(x.Raw, sig.Raw), append(x.Grades, c.Judgments[q.ID][name])
		}
		out = append(out, x)
		if o.Progress != nil {
			o.Progress(i+1, len(c.Queries))
		}
	}
	return out, nil
}

// NDCG is nDCG@10 of an example's candidates in the order of a model.
func (x Example) NDCG(m rerank.Model) float64 {
	if x.Ideal == 0 {
		return 0
	}
	type scored struct {
		score float64
		at    int
	}
	order := make([]scored, len(x.Z))
	for i := range x.Z {
		order[i] = scored{m.Score(x.Z[i], x.Raw[i]), i}
	}
	slices.SortFunc(order, func(a, b scored) int { return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.at, b.at)) })
	dcg := 0.0
	for rank, s := range order[:min(Cut, len(order))] {
		dcg += gain(x.Grades[s.at]) / math.Log2(float64(rank+2))
	}
	return dcg / x.Ideal
}

// TrainOptions are the choices of training.
type TrainOptions struct {
	Fixed rerank.Vector // rules that stay as they are
	// L2 pulls every weight to zero; training is convex, so that the result
	// depends on nothing else.
	L2 float64
	// Skip are features that get no weight.
	Skip map[rerank.Feature]bool
}

// Train fits the weights of a linear model: listwise softmax cross-entropy
// between gains and scores (Cao et al.: Learning to rank, ICML 2007, top-one
// probability) with an L2 penalty, by Newton's method. Every collection
// counts the same, however many queries it has.
func Train(examples []Example, o TrainOptions) (rerank.Model, error) {
	count := map[string]int{}
	for _, x := range examples {
		count[x.Collection]++
	}
	m := rerank.Model{Fixed: o.Fixed}
	for range 50 {
		gradient, hessian := make([]float64, rerank.NumFeatures), make([][]float64, rerank.NumFeatures)
		for f := range hessian {
			hessian[f] = make([]float64, rerank.NumFeatures)
			gradient[f] = o.L2 * m.Weights[f]
			hessian[f][f] = o.L2
		}
		for _, x := range examples {
			addGradient(x, m, 1/float64(count[x.Collection]*len(count)), gradient, hessian)
		}
		for f := range rerank.NumFeatures {
			if o.Skip[rerank.Feature(f)] {
				gradient[f] = 0
				for g := range hessian {
					hessian[f][g], hessian[g][f] = 0, 0
				}
				hessian[f][f] = 1
			}
		}
		step, err := solve(hessian, gradient)
		if err != nil {
			return m, err
		}
		size := 0.0
		for f := range step {
			// A bounded step keeps Newton's method inside the region where the
			// quadratic picture holds.
			d := math.Max(-0.5, math.Min(0.5, step[f]))
			m.Weights[f] -= d
			size += d * d
		}
		if size < 1e-16 {
			return m, nil
		}
	}
	return m, nil
}

// addGradient adds an example's part of the loss's derivatives.
func addGradient(x Example, m rerank.Model, weight float64, gradient []float64, hessian [][]float64) {
	total := 0.0
	for _, g := range x.Grades {
		total += gain(g)
	}
	if total == 0 || len(x.Z) < 2 {
		return // nothing to learn where nothing relevant was found
	}
	p := make([]float64, len(x.Z))
	top := math.Inf(-1)
	for i := range x.Z {
		p[i] = m.Score(x.Z[i], x.Raw[i])
		top = math.Max(top, p[i])
	}
	sum := 0.0
	for i := range p {
		p[i] = math.Exp(p[i] - top)
		sum += p[i]
	}
	var mean rerank.Vector
	for i := range p {
		p[i] /= sum
		for f := range rerank.NumFeatures {
			mean[f] += p[i] * x.Z[i][f]
			gradient[f] += weight * (p[i] - gain(x.Grades[i])/total) * x.Z[i][f]
		}
	}
	for i := range p {
		if p[i] < 1e-6 {
			continue
		}
		for f := range rerank.NumFeatures {
			d := weight * p[i] * (x.Z[i][f] - mean[f])
			for g := range rerank.NumFeatures {
				hessian[f][g] += d * (x.Z[i][g] - mean[g])
			}
		}
	}
}

// solve solves a·x = b by Gaussian elimination with pivoting.
func solve(a [][]float64, b []float64) ([]float64, error) {
	n := len(b)
	for c := range n {
		pivot := c
		for r := c + 1; r < n; r++ {
			if math.Abs(a[r][c]) > math.Abs(a[pivot][c]) {
				pivot = r
			}
		}
		if math.Abs(a[pivot][c]) < 1e-12 {
			return nil, errors.New("eval: the features are linearly dependent: raise the penalty")
		}
		a[c], a[pivot], b[c], b[pivot] = a[pivot], a[c], b[pivot], b[c]
		for r := c + 1; r < n; r++ {
			k := a[r][c] / a[c][c]
			for j := c; j < n; j++ {
				a[r][j] -= k * a[c][j]
			}
			b[r] -= k * b[c]
		}
	}
	x := make([]float64, n)
	for c := n - 1; c >= 0; c-- {
		x[c] = b[c]
		for j := c + 1; j < n; j++ {
			x[c] -= a[c][j] * x[j]
		}
		x[c] /= a[c][c]
	}
	return x, nil
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

// Held is the mean nDCG@10 by collection of examples that their model never
// saw.
type Held map[string]float64

// CrossValidate trains on all folds but one and measures on that, for each.
func CrossValidate(examples []Example, o TrainOptions, folds int, seed uint64) (Held, error) {
	return hold(examples, o, folds, func(x Example) int { return Fold(x.Query, folds, seed) })
}

// LeaveOneOut trains on all collections but one and measures on that, for
// each.
func LeaveOneOut(examples []Example, o TrainOptions) (Held, error) {
	var names []string
	for _, x := range examples {
		if !slices.Contains(names, x.Collection) {
			names = append(names, x.Collection)
		}
	}
	return hold(examples, o, len(names), func(x Example) int { return slices.Index(names, x.Collection) })
}

func hold(examples []Example, o TrainOptions, parts int, part func(Example) int) (Held, error) {
	sum, count := map[string]float64{}, map[string]int{}
	for p := range parts {
		var seen, unseen []Example
		for _, x := range examples {
			if part(x) == p {
				unseen = append(unseen, x)
			} else {
				seen = append(seen, x)
			}
		}
		if len(seen) == 0 {
			continue
		}
		m, err := Train(seen, o)
		if err != nil {
			return nil, err
		}
		for _, x := range unseen {
			sum[x.Collection] += x.NDCG(m)
			count[x.Collection]++
		}
	}
	out := Held{}
	for name, s := range sum {
		out[name] = s / float64(count[name])
	}
	return out, nil
}

// Mean measures a model on examples, by collection.
func Mean(examples []Example, m rerank.Model) Held {
	out, count := Held{}, map[string]float64{}
	for _, x := range examples {
		out[x.Collection] += x.NDCG(m)
		count[x.Collection]++
	}
	for name := range out {
		out[name] /= count[name]
	}
	return out
}

// Mean is the mean over collections.
func (h Held) Mean() float64 {
	sum := 0.0
	for _, name := range slices.Sorted(maps.Keys(h)) {
		sum += h[name]
	}
	return sum / math.Max(1, float64(len(h)))
}
