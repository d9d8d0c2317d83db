package eval

import "math"

// Kappa is Cohen's kappa of two lists of grades of the same things, by quadratic weights: how much more they agree than by
// chance, 1 being always, 0 as by chance, negative less; a disagreement counts as the square of the grades between
// (Cohen: Weighted kappa, Psychological Bulletin 70, 1968). Grades that neither gave count as steps between those they
// gave. NaN if there is nothing to agree on, or if both gave one and the same grade throughout.
func Kappa(a, b []int) float64 {
	n := float64(len(a))
	var observed, expected float64
	inA, inB := map[int]float64{}, map[int]float64{}
	for i := range a {
		observed += apart(a[i], b[i])
		inA[a[i]]++
		inB[b[i]]++
	}
	for x, nx := range inA {
		for y, ny := range inB {
			expected += apart(x, y) * nx * ny / n
		}
	}
	if expected == 0 {
		return math.NaN()
	}
	return 1 - observed/expected
}

// apart weighs a disagreement.
func apart(a, b int) float64 { return float64((a - b) * (a - b)) }
