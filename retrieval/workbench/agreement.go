package workbench

import (
	"cmp"
	"slices"

	"almanac/catalog"
	"almanac/retrieval/eval"
)

// Agreement is how two judges graded what both did.
type Agreement struct {
	A, B          string
	Pairs         int // of query and document that both graded
	Same          int // of those with the same grade
	Kappa         float64
	Disagreements []Disagreement // the largest first
}

// Disagreement is a document with different grades for a query.
type Disagreement struct {
	Query, Target string
	A, B          int
	WhyA, WhyB    string // their reasons, if they gave any
}

// apart is how many grades lie between the two.
func (d Disagreement) apart() int { return max(d.A-d.B, d.B-d.A) }

// Agreements compares every two judges that graded any pair both, by name.
func Agreements(judgments []catalog.Judgment) []Agreement {
	type pair struct{ query, target string }
	grades := map[string]map[pair]catalog.Judgment{}
	var judges []string
	for _, j := range judgments {
		if grades[j.Judge] == nil {
			grades[j.Judge] = map[pair]catalog.Judgment{}
			judges = append(judges, j.Judge)
		}
		grades[j.Judge][pair{j.Query, j.Target}] = j
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
				a, b = append(a, grade.Grade), append(b, other.Grade)
				if grade.Grade == other.Grade {
					x.Same++
				} else {
					x.Disagreements = append(x.Disagreements, Disagreement{at.query, at.target, grade.Grade, other.Grade,
						grade.Note, other.Note})
				}
			}
			if x.Pairs = len(a); x.Pairs == 0 {
				continue
			}
			x.Kappa = eval.Kappa(a, b)
			slices.SortFunc(x.Disagreements, func(p, q Disagreement) int {
				return cmp.Or(cmp.Compare(q.apart(), p.apart()), cmp.Compare(p.Query, q.Query),
					cmp.Compare(p.Target, q.Target))
			})
			out = append(out, x)
		}
	}
	return out
}
