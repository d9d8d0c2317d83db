package eval

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
)

// samples is the number of permutations of a test and of resamples of an
// interval; seed fixes both, so that a measurement prints the same twice.
const (
	samples = 10_000
	seed    = 1
)

// Interval is the 95 % confidence interval of a mean.
type Interval struct {
	Low  float64 `json:"ndcg10_low"`
	High float64 `json:"ndcg10_high"`
}

// Bootstrap returns the percentile-bootstrap interval of the mean of values
// (Efron 1979): 10,000 resamples, 2.5 % of their means on either side.
func Bootstrap(values []float64) Interval {
	if len(values) == 0 {
		return Interval{}
	}
	random := rand.NewPCG(seed, uint64(len(values)))
	n := uint64(len(values))
	means := make([]float64, samples)
	for i := range means {
		sum := 0.0
		for range values {
			at, _ := bits.Mul64(random.Uint64(), n)
			sum += values[at]
		}
		means[i] = sum / float64(n)
	}
	slices.Sort(means)
	return Interval{percentile(means, 0.025), percentile(means, 0.975)}
}

// Comparison is a paired comparison of nDCG@10, query by query.
type Comparison struct {
	Against    string  `json:"against"`
	Difference float64 `json:"ndcg10_difference"` // of the means; above 0 = better
	P          float64 `json:"p"`                 // two-sided
	Better     int     `json:"better"`            // queries
	Worse      int     `json:"worse"`
}

// Compare tests whether paired values differ by more than chance with Fisher's
// randomisation test (Smucker, Allan, Carterette: A comparison of statistical
// significance tests for information retrieval evaluation, CIKM 2007): the
// share of 10,000 random swaps within pairs whose means differ at least as much
// as the observed, which counts as one of them. Weights are those of the pairs;
// nil = all the same.
func Compare(ours, theirs, weights []float64) Comparison {
	c := Comparison{P: 1}
	if len(ours) == 0 {
		return c
	}
	differences := make([]float64, len(ours))
	observed, total := 0.0, 0.0
	for i := range ours {
		w := 1.0
		if weights != nil {
			w = weights[i]
		}
		d := ours[i] - theirs[i]
		switch {
		case d > 0:
			c.Better++
		case d < 0:
			c.Worse++
		}
		differences[i] = w * d
		observed += w * d
		total += w
	}
	c.Difference = observed / total
	// Rounding makes sums of the same numbers with other signs differ in their last digits.
	limit := math.Abs(observed) - 1e-9
	random := rand.NewPCG(seed, uint64(len(ours)))
	extreme := 1
	for range samples {
		if math.Abs(swapped(differences, random)) >= limit {
			extreme++
		}
	}
	c.P = float64(extreme) / (samples + 1)
	return c
}

// swapped returns the sum of the differences with random signs.
func swapped(differences []float64, random *rand.PCG) float64 {
	sum := 0.0
	var signs uint64
	for i, d := range differences {
		if i%64 == 0 {
			signs = random.Uint64()
		}
		// The lowest bit becomes the sign.
		sum += math.Float64frombits(math.Float64bits(d) ^ signs<<63)
		signs >>= 1
	}
	return sum
}
