package eval

import "math"

// Weighting says how much a disagreement counts that is d grades apart.
type Weighting int

// The weightings of Kappa.
const (
	Unweighted Weighting = iota // as any other
	Linear                      // d
	Quadratic                   // d²
)

// Kappa is Cohen's kappa of two lists of grades of the same things: how much
// more they agree than by chance, 1 being always, 0 as by chance, negative less
// (Cohen: Weighted kappa, Psychological Bulletin 70, 1968). Grades that neither gave
// count as steps between those they gave. NaN if there is nothing to agree on, or if
// both gave one and the same grade throughout.
func Kappa(a, b []int, w Weighting) float64 {
	n := float64(len(a))
	var observed, expected float64
	inA, inB := map[int]float64{}, map[int]float64{}
	for i := range a {
		observed += apart(a[i], b[i], w)
		inA[a[i]]++
		inB[b[i]]++
	}
	for x, nx := range inA {
		for y, ny := range inB {
			expected += apart(x, y, w) * nx * ny / n
		}
	}
	if expected == 0 {
		return math.NaN()
	}
	return 1 - observed/expected
}

// apart weighs a disagreement.
func apart(a, b int, w Weighting) float64 {
	d := math.Abs(float64(a - b))
	switch {
	case w == Linear:
		return d
	case w == Quadratic:
		return d * d
	}
	return math.Min(d, 1)
}
