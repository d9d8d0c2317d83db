package eval

import (
	"context"
	"math"
	"slices"
	"strings"

	"almanac/catalog"
)

// Judges are named by what they are: PersonJudge and a name, ImportJudge and the
// name of a file's collection, ModelJudge and the model's, or ClickJudge. The
// lists of each are kept apart.
const (
	PersonJudge = "person/"
	ImportJudge = "import/"
	ModelJudge  = "model/"
	ClickJudge  = "clicks"
)

// ByPeople reports whether a judge is a person, or a file of their judgments.
func ByPeople(judge string) bool {
	return strings.HasPrefix(judge, PersonJudge) || strings.HasPrefix(judge, ImportJudge)
}

// Case reads a case of the catalog as a collection. judges are those that
// count; none means everybody but models and clicks. Where several graded a
// document its grade is their mean, rounded half up. Queries that nobody judged
// are left out.
func Case(ctx context.Context, store catalog.RelevanceStore, c catalog.Case, judges ...string) (Collection, error) {
	queries, err := store.Queries(ctx, c.ID)
	if err != nil {
		return Collection{}, err
	}
	judgments, err := store.Judgments(ctx, c.ID)
	if err != nil {
		return Collection{}, err
	}
	type pair struct{ query, target string }
	grades := map[pair][]int{}
	for _, j := range judgments {
		counts := slices.Contains(judges, j.Judge) || len(judges) == 0 && ByPeople(j.Judge)
		if counts {
			at := pair{j.Query, j.Target}
			grades[at] = append(grades[at], j.Grade)
		}
	}
	out := Collection{Name: c.Name, Judgments: map[string]map[string]int{}}
	for at, of := range grades {
		sum := 0
		for _, g := range of {
			sum += g
		}
		if out.Judgments[at.query] == nil {
			out.Judgments[at.query] = map[string]int{}
		}
		out.Judgments[at.query][at.target] = int(math.Floor(float64(sum)/float64(len(of)) + 0.5))
	}
	for _, q := range queries {
		if len(out.Judgments[q.ID]) > 0 {
			out.Queries = append(out.Queries, Query{ID: q.ID, Text: q.Text, Kind: q.Kind})
		}
	}
	return out, nil
}
