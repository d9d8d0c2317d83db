package ranking

import "math"

// Model is a linear model over normalised features.
type Model struct {
	Weights Vector
	// Fixed are added without normalisation: rules that hold whatever the other candidates are.
	Fixed Vector
}

// Normalise turns values into z-scores.
func Normalise(values []float64) {
	n, sum, squares := float64(len(values)), 0.0, 0.0
	for _, v := range values {
		sum += v
	}
	mean := sum / n
	for i := range values {
		values[i] -= mean
		squares += values[i] * values[i]
	}
	sd := math.Sqrt(squares / n)
	for i := range values {
		if values[i] /= sd; sd <= 1e-9 {
			values[i] = 0
		}
	}
}

// Score adds the normalised and the fixed features of one candidate.
func (m Model) Score(z, raw Vector) float64 {
	sum := 0.0
	for f := range NumFeatures {
		sum += m.Weights[f]*z[f] + m.Fixed[f]*raw[f]
	}
	return sum
}
