package eval

import (
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"math"
	"slices"

	"almanac/retrieval/ranking"
)

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
