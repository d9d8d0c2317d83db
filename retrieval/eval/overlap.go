package eval

import (
	"math"
)

// Persistence is the p at which RBO gives the first ten ranks 86 % of the weight.
const Persistence = 0.9

// RBO is the rank-biased overlap of two rankings, extrapolated to rankings
// without end: 1 if they are the same, 0 if they share nothing (Webber, Moffat,
// Zobel: A similarity measure for indefinite rankings, ACM TOIS 2010, equation
// 32, for rankings of different lengths too). p, between 0 and 1, is the
// probability of reading on after each rank. A ranking names each document once.
func RBO[T comparable](a, b []T, p float64) float64 {
	short, long := a, b
	if len(short) > len(long) {
		short, long = long, short
	}
	s, l := len(short), len(long)
	if s == 0 {
		return empty(l)
	}
	seenShort, seenLong := make(map[T]bool, s), make(map[T]bool, l)
	shared, sharedShort, sum := 0.0, 0.0, 0.0 // X_d, X_s and what is in the parentheses
	for d := 1; d <= l; d++ {
		x := long[d-1]
		seenLong[x] = true
		if d <= s {
			y := short[d-1]
			seenShort[y] = true
			if y != x && seenLong[y] {
				shared++
			}
		}
		if seenShort[x] {
			shared++
		}
		weight := math.Pow(p, float64(d))
		sum += shared / float64(d) * weight
		if d <= s {
			sharedShort = shared
		} else {
			sum += sharedShort * float64(d-s) / float64(s*d) * weight
		}
	}
	beyond := (shared-sharedShort)/float64(l) + sharedShort/float64(s)
	return (1-p)/p*sum + beyond*math.Pow(p, float64(l))
}

// Jaccard is the share of documents that the first k of two rankings have in
// common, of all that are in either: 1 if they are the same set.
func Jaccard[T comparable](a, b []T, k int) float64 {
	a, b = a[:min(k, len(a))], b[:min(k, len(b))]
	all, shared := map[T]bool{}, 0
	for _, id := range a {
		all[id] = true
	}
	for _, id := range b {
		if all[id] {
			shared++
		}
		all[id] = true
	}
	if len(all) == 0 {
		return empty(0)
	}
	return float64(shared) / float64(len(all))
}

// empty is the similarity of a ranking of n documents to an empty one.
func empty(n int) float64 {
	if n == 0 {
		return 1
	}
	return 0
}

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
