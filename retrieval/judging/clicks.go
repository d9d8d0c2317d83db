package judging

import (
	"context"
	"fmt"
	"strings"
	"time"

	"almanac/catalog"
	"almanac/retrieval/eval"
)

// Clicks replaces the judgments that clicks make in a case by those of the clicks
// since a day, and returns their number. What is expected at a place is counted over all
// queries, those outside the case too. Queries are compared without regard to case.
func Clicks(ctx context.Context, store catalog.Store, c catalog.Case, since time.Time) (int, error) {
	counts, err := store.Clicks(ctx, since)
	if err != nil {
		return 0, err
	}
	queries, err := store.Queries(ctx, c.ID)
	if err != nil {
		return 0, err
	}
	before, err := store.Judgments(ctx, c.ID)
	if err != nil {
		return 0, err
	}
	ids, judged := map[string]string{}, map[string]bool{}
	for _, q := range queries {
		ids[folded(q.Text)] = q.ID
	}
	var judgments []catalog.Judgment
	for _, j := range before {
		judged[j.Target] = true
		if j.Judge == eval.ClickJudge {
			j.Grade = -1
			judgments = append(judgments, j)
		}
	}
	graded := 0
	for i := range counts {
		counts[i].Query = folded(counts[i].Query)
	}
	for _, g := range eval.COEC(counts) {
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
		target, err := Target(ctx, store, heads[0], judged)
		if err != nil {
			return 0, err
		}
		graded++
		judgments = append(judgments, catalog.Judgment{Query: id, Target: target, Judge: eval.ClickJudge, Grade: g.Grade,
			Note: fmt.Sprintf("%d clicks, %.1f expected", g.Clicks, g.Expected)})
	}
	return graded, store.PutJudgments(ctx, c.ID, judgments)
}

// folded is a query as it is compared.
func folded(query string) string { return strings.ToLower(strings.TrimSpace(query)) }
