package eval

import (
	"cmp"
	"math"
	"slices"

	"almanac/catalog"
)

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

// Agreement is how two judges graded what both did.
type Agreement struct {
	A, B          string
	Pairs         int // of query and document that both graded
	Same          int // of those with the same grade
	Kappa         float64
	Linear        float64
	Quadratic     float64
	Disagreements []Disagreement // the largest first
}

// Disagreement is a document with different grades for a query.
type Disagreement struct {
	Query, Target string
	A, B          int
}

// Agreements compares every two judges that graded any pair both, by name.
func Agreements(judgments []catalog.Judgment) []Agreement {
	type pair struct{ query, target string }
	grades := map[string]map[pair]int{}
	var judges []string
	for _, j := range judgments {
		if grades[j.Judge] == nil {
			grades[j.Judge] = map[pair]int{}
			judges = append(judges, j.Judge)
		}
		grades[j.Judge][pair{j.Query, j.Target}] = j.Grade
	}
	slices.Sort(judges)
	var out []Agreement
	for i, first := range judges {
		for _, second := range judges[i+1:] {
			x := Agreement{A: first, B: second}
			var a, b []int
			for at, grade := range grades[first] {
				other, both := grades[second][at]
				if !both {
					continue
				}
				a, b = append(a, grade), append(b, other)
				if grade == other {
					x.Same++
				} else {
					x.Disagreements = append(x.Disagreements, Disagreement{at.query, at.target, grade, other})
				}
			}
			if x.Pairs = len(a); x.Pairs == 0 {
				continue
			}
			x.Kappa, x.Linear, x.Quadratic = Kappa(a, b, Unweighted), Kappa(a, b, Linear), Kappa(a, b, Quadratic)
			slices.SortFunc(x.Disagreements, func(p, q Disagreement) int {
				return cmp.Or(cmp.Compare(apart(q.A, q.B, Linear), apart(p.A, p.B, Linear)),
					cmp.Compare(p.Query, q.Query), cmp.Compare(p.Target, q.Target))
			})
			out = append(out, x)
		}
	}
	return out
}
