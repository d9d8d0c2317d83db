package workbench

import (
	"context"
	"fmt"
	"strings"
	"time"

	"almanac/catalog"
	"almanac/catalog/sqlstore"
)

// Clicks replaces the judgments that clicks make in a case by those of the clicks
// since a day, and returns their number. What is expected at a place is counted over all
// queries, those outside the case too. Queries are compared without regard to case.
func Clicks(ctx context.Context, store *sqlstore.Store, c catalog.Case, since time.Time) (int, error) {
	counts, err := store.Clicks(ctx, since)
	if err != nil {
		return 0, err
	}
	queries, before, err := Content(ctx, store, c.ID)
	if err != nil {
		return 0, err
	}
	ids, judged := map[string]string{}, targets(before)
	for _, q := range queries {
		ids[folded(q.Text)] = q.ID
	}
	var judgments []catalog.Judgment
	for _, j := range before {
		if j.Judge == ClickJudge {
			j.Grade = -1
			judgments = append(judgments, j)
		}
	}
	graded := 0
	for i := range counts {
		counts[i].Query = folded(counts[i].Query)
	}
	for _, g := range COEC(counts) {
		id, ok := ids[g.Query]
		if !ok {
			continue
		}
		heads, err := store.Heads(ctx, []int64{g.Record})
		if err != nil {
			return 0, err
		}
		if len(heads) == 0 {
			continue
		}
		names, err := Targets(ctx, store, heads, judged)
		if err != nil {
			return 0, err
		}
		graded++
		judgments = append(judgments, catalog.Judgment{Query: id, Target: names[g.Record], Judge: ClickJudge, Grade: g.Grade,
			Note: fmt.Sprintf("%d clicks, %.1f expected", g.Clicks, g.Expected)})
	}
	return graded, store.PutJudgments(ctx, c.ID, judgments)
}

// folded is a query as it is compared.
func folded(query string) string { return strings.ToLower(strings.TrimSpace(query)) }

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
