package rerank

import (
	"math"
	"slices"
)

// Model is a linear model over normalised features.
type Model struct {
	Weights Vector
	// Fixed are added without normalisation: rules that hold whatever the other candidates are.
	Fixed Vector
}

// AppendNormalised appends the features of candidates as z-scores over all of them:
// distances from the mean in standard deviations, 0 where all are equal.
func AppendNormalised(list []Vector, scored []Scored) []Vector {
	list = slices.Grow(list, len(scored))[:len(list)+len(scored)]
	out := list[len(list)-len(scored):]
	clear(out)
	n := float64(len(scored))
	for f := range NumFeatures {
		sum, squares := 0.0, 0.0
		for i := range scored {
			sum += scored[i].Features[f]
		}
		mean := sum / n
		for i := range scored {
			d := scored[i].Features[f] - mean
			squares += d * d
		}
		if sd := math.Sqrt(squares / n); sd > 1e-9 {
			for i := range scored {
				out[i][f] = (scored[i].Features[f] - mean) / sd
			}
		}
	}
	return list
}

// Score adds the normalised and the fixed features of one candidate.
func (m Model) Score(z, raw Vector) float64 {
	sum := 0.0
	for f := range NumFeatures {
		sum += m.Weights[f]*z[f] + m.Fixed[f]*raw[f]
	}
	return sum
}
