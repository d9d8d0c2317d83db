package eval

import "almanac/catalog"

// minExpected is how many clicks must be expected of a document before what
// happened instead says something.
const minExpected = 3

// ClickGrade is what the clicks on a document of a query say.
type ClickGrade struct {
	Query    string
	Record   int64
	Clicks   int
	Expected float64 // clicks, had it been like what stands at its places
	Grade    int
}

// Ratio is clicks over expected clicks.
func (g ClickGrade) Ratio() float64 { return float64(g.Clicks) / g.Expected }

// COEC grades documents by clicks over expected clicks (Zhang, Jones: Comparing
// Click Logs and Editorial Labels for Training Query Rewriting, 2007): what is
// expected at a place is how often anything is clicked there, whatever the query, so
// that a document is not better for having been shown first. Grades are those of
// people: 0 below half of what is expected, 1 below all of it, 2 below twice, 3
// above. Documents with fewer than three expected clicks are left out.
func COEC(counts []catalog.ClickCount) []ClickGrade {
	shown, clicked := map[int]float64{}, map[int]float64{}
	for _, c := range counts {
		shown[c.Position] += float64(c.Shown)
		clicked[c.Position] += float64(c.Clicked)
	}
	type pair struct {
		query  string
		record int64
	}
	at := map[pair]int{}
	var all []ClickGrade
	for _, c := range counts {
		p := pair{c.Query, c.Record}
		i, known := at[p]
		if !known {
			i = len(all)
			at[p] = i
			all = append(all, ClickGrade{Query: c.Query, Record: c.Record})
		}
		all[i].Clicks += c.Clicked
		if shown[c.Position] > 0 {
			all[i].Expected += float64(c.Shown) * clicked[c.Position] / shown[c.Position]
		}
	}
	var out []ClickGrade
	for _, g := range all {
		if g.Expected < minExpected {
			continue
		}
		for _, from := range []float64{.5, 1, 2} {
			if g.Ratio() >= from {
				g.Grade++
			}
		}
		out = append(out, g)
	}
	return out
}
