package workbench

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"almanac/catalog"
	"almanac/retrieval"
	"almanac/retrieval/eval"
	"almanac/retrieval/ranking"
)

// Bench measures on the index that serves, and stores nothing: what a change would do
// to a case before anybody makes it, and how its latest runs are by the grades of today.
// It finds what is to be judged for a query, its pool.
type Bench struct {
	ranking.Source
	Index Measurable

	live memo[eval.Report] // of the last case that was measured with what is live
	same memo[eval.Same]   // the copies among the documents of the last Board
}

// memo keeps the last answer as long as it would be the same.
type memo[T any] struct {
	mu     sync.Mutex
	key    string // what the answer depends on
	answer T
}

func (m *memo[T]) get(key string, find func() (T, error)) (T, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.key == key {
		return m.answer, nil
	}
	answer, err := find()
	if err == nil {
		m.key, m.answer = key, answer
	}
	return answer, err
}

// maxTried is how many queries of a case Effect searches for.
const maxTried = 200

// Effect is what a change does to the judged queries of a case.
type Effect struct {
	Case          catalog.Case
	Of            int     // queries that are judged; more than Queries if some were left out
	Before, After float64 // nDCG@10
	Difference
}

// On returns what changes for the query of a text; nil if the case does not have it.
func (e Effect) On(text string) *Change {
	for i, c := range e.Changes {
		if folded(c.Ours.Query.Text) == folded(text) {
			return &e.Changes[i]
		}
	}
	return nil
}

// Effect measures a change of what is live, or of another relevance, on a case: of more
// than 200 judged queries on as many, evenly chosen. ErrUnjudged.
func (b *Bench) Effect(ctx context.Context, c catalog.Case, before, after ranking.Named) (e Effect, err error) {
	_, collection, err := Collection(ctx, b.Store, c.ID, nil)
	if err != nil {
		return e, err
	}
	e.Case, e.Of = c, len(collection.Queries)
	if e.Of > maxTried {
		chosen := make([]eval.Query, maxTried)
		for i := range chosen {
			chosen[i] = collection.Queries[i*e.Of/maxTried]
		}
		collection.Queries = chosen
	}
	_, indexed, err := b.Index.Indexed()
	if err != nil {
		return e, err
	}
	o, err := Options(ctx, b.Store, collection, indexed)
	if err != nil {
		return e, err
	}
	o.Brief = true
	was, err := b.measured(ctx, collection, o, before)
	if err != nil {
		return e, err
	}
	o.Profile, o.Relevance = after.Name, &after.Relevance
	is, err := eval.Run(ctx, b.Index, collection, o)
	if err != nil {
		return e, err
	}
	e.Difference = Compare(Run{Report: is}, Run{Report: was})
	for _, x := range e.Changes { // of what both measured
		e.Before += x.Theirs.NDCG10 / float64(len(e.Changes))
		e.After += x.Ours.NDCG10 / float64(len(e.Changes))
	}
	return e, nil
}

// measured runs a case; of what is live the last report is kept as long as it would
// be the same.
func (b *Bench) measured(ctx context.Context, c eval.Collection, o eval.Options, with ranking.Named) (eval.Report,
	error) {
	o.Profile, o.Relevance = with.Name, &with.Relevance
	if with.Name != ranking.Live {
		return eval.Run(ctx, b.Index, c, o)
	}
	key, err := b.state(ctx, c)
	if err != nil {
		return eval.Report{}, err
	}
	return b.live.get(key, func() (eval.Report, error) { return eval.Run(ctx, b.Index, c, o) })
}

// state is what a measurement of what is live depends on, and of what.
func (b *Bench) state(ctx context.Context, of any) (string, error) {
	_, published, err := b.Store.Published(ctx)
	if err != nil {
		return "", err
	}
	head, err := b.Store.LastChange(ctx)
	if err != nil {
		return "", err
	}
	generation, _, err := b.Index.Indexed()
	if err != nil {
		return "", err
	}
	data, err := json.Marshal(of)
	return fmt.Sprint(published, head, generation, b.Index.Status(ctx).Lag, sha256.Sum256(data)), err
}

// maxPast is how many runs a Board has.
const maxPast = 12

// Board is how the latest runs of what is live rank the queries of a case. All are
// measured by the grades of today: a run is not worse for grades that came later.
type Board struct {
	Run    *Run // the latest; nil: there is none
	Before *Run // the one before it
	NDCG   float64
	Change float64 // since the one before
	Rows   []BoardRow
}

// BoardRow is a query of the case, whether or not the run has it.
type BoardRow struct {
	catalog.CaseQuery
	Measured bool
	NDCG     float64
	Change   float64   // since the run before
	Places   []Place   // the first ten
	Past     []float64 // nDCG@10 of the runs that have the query, oldest first
}

// Place is a document in a ranking.
type Place struct {
	Target string
	Grade  int // of people; -1: nobody judged it
}

// Board reads the runs of a case.
func (b *Bench) Board(ctx context.Context, c catalog.Case) (out Board, err error) {
	queries, err := b.Store.Queries(ctx, c.ID)
	if err != nil {
		return out, err
	}
	runs, err := b.past(ctx, c)
	if err != nil {
		return out, err
	}
	if len(runs) == 0 {
		for _, q := range queries {
			out.Rows = append(out.Rows, BoardRow{CaseQuery: q})
		}
		return out, nil
	}
	collection, err := Judged(ctx, b.Store, c)
	if err != nil {
		return out, err
	}
	same, err := b.copies(ctx, collection, runs)
	if err != nil {
		return out, err
	}
	rankings := make([]map[string][]string, len(runs))
	for i, run := range runs {
		rankings[i] = map[string][]string{}
		for _, x := range run.Report.PerQuery {
			if x.Failure == "" {
				rankings[i][x.Query.ID] = x.Ranking
			}
		}
	}
	measured := 0
	var sum, was float64
	for _, q := range queries {
		row := BoardRow{CaseQuery: q}
		grades := collection.Judgments[q.ID]
		for i := range runs {
			ranking, ok := rankings[i][q.ID]
			if !ok || len(grades) == 0 {
				continue
			}
			row.Past = append(row.Past, eval.Measure(ranking, grades, 1, same).NDCG10)
			if row.Measured = i == len(runs)-1; row.Measured {
				row.Places = placesOf(ranking, grades)
			}
		}
		if n := len(row.Past); row.Measured {
			row.NDCG = row.Past[n-1]
			if n > 1 {
				row.Change = row.NDCG - row.Past[n-2]
			}
			measured++
			sum, was = sum+row.NDCG, was+row.NDCG-row.Change
		}
		out.Rows = append(out.Rows, row)
	}
	n := len(runs)
	out.Run = &runs[n-1]
	out.NDCG, out.Change = sum/float64(max(1, measured)), (sum-was)/float64(max(1, measured))
	if n > 1 {
		out.Before = &runs[n-2]
	}
	return out, nil
}

// Worst are the measured queries, those with the least nDCG@10 first.
func (b Board) Worst() []BoardRow {
	rows := slices.DeleteFunc(slices.Clone(b.Rows), func(r BoardRow) bool { return !r.Measured })
	slices.SortStableFunc(rows, func(x, y BoardRow) int { return cmp.Compare(x.NDCG, y.NDCG) })
	return rows
}

// past reads the latest runs of what is live, oldest first.
func (b *Bench) past(ctx context.Context, c catalog.Case) (runs []Run, err error) {
	all, err := ListRuns(ctx, b.Store, c.ID, 0)
	if err != nil {
		return nil, err
	}
	for _, run := range all {
		if run.Profile != ranking.Live || len(runs) == maxPast {
			continue
		}
		if run, err = Load(ctx, b.Store, run.ID); err != nil {
			return nil, err
		}
		runs = append([]Run{run}, runs...)
	}
	return runs, nil
}

// copies says which documents of a case and its runs are copies; nil while the index is
// loading. The last answer is kept as long as it would be the same, as it takes reading all
// records.
func (b *Bench) copies(ctx context.Context, c eval.Collection, runs []Run) (eval.Same, error) {
	if b.Index == nil {
		return nil, nil
	}
	_, indexed, err := b.Index.Indexed()
	if errors.Is(err, retrieval.ErrNotReady) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	judged := c.Documents() // by which records are named
	compared := maps.Clone(judged)
	for _, run := range runs {
		for _, x := range run.Report.PerQuery {
			for _, id := range x.Ranking {
				compared[id] = true
			}
		}
	}
	key, err := b.state(ctx, []map[string]bool{judged, compared})
	if err != nil {
		return nil, err
	}
	return b.same.get(key, func() (eval.Same, error) {
		names, err := Names(ctx, b.Store, c)
		if err != nil {
			return nil, err
		}
		maps.DeleteFunc(names, func(_ int64, name string) bool { return !compared[name] })
		return copiesOf(ctx, names, indexed)
	})
}

// placesOf are the first ten of a ranking.
func placesOf(ranking []string, grades map[string]int) []Place {
	out := make([]Place, min(eval.Cut, len(ranking)))
	for i := range out {
		out[i] = Place{ranking[i], -1}
		if g, ok := grades[ranking[i]]; ok {
			out[i].Grade = g
		}
	}
	return out
}

// Sighting is a query in whose latest run a document is, or for which it is judged.
type Sighting struct {
	Case      catalog.Case
	Query     catalog.CaseQuery
	Rank      int   // in the latest run of what is live; 0: it is not among the first hundred
	Past      []int // ranks in the runs that have the query, oldest first
	Judgments []catalog.Judgment
}

// Sightings are the queries of all cases that have to do with a record.
func (b *Bench) Sightings(ctx context.Context, r catalog.Record) (out []Sighting, err error) {
	cases, err := b.Store.Cases(ctx)
	if err != nil {
		return nil, err
	}
	for _, c := range cases {
		queries, judgments, err := Content(ctx, b.Store, c.ID)
		if err != nil {
			return nil, err
		}
		names, err := Targets(ctx, b.Store, []catalog.Record{r}, targets(judgments))
		if err != nil {
			return nil, err
		}
		target := names[r.ID]
		runs, err := b.past(ctx, c)
		if err != nil {
			return nil, err
		}
		ranks := map[string][]int{}
		for _, run := range runs {
			for _, x := range run.Report.PerQuery {
				rank := 0
				for i, id := range x.Ranking {
					if id == target {
						rank = i + 1
						break
					}
				}
				ranks[x.Query.ID] = append(ranks[x.Query.ID], rank)
			}
		}
		for _, q := range queries {
			s := Sighting{Case: c, Query: q, Past: ranks[q.ID]}
			if n := len(s.Past); n > 0 {
				s.Rank = s.Past[n-1]
			}
			for _, j := range judgments {
				if j.Query == q.ID && j.Target == target {
					s.Judgments = append(s.Judgments, j)
				}
			}
			if s.Rank > 0 || len(s.Judgments) > 0 {
				out = append(out, s)
			}
		}
	}
	return out, nil
}

// QueryNamed finds the query of a text in a case; nil if it has none.
func QueryNamed(queries []catalog.CaseQuery, text string) *catalog.CaseQuery {
	for i, q := range queries {
		if folded(q.Text) == folded(text) {
			return &queries[i]
		}
	}
	return nil
}

// FreeID is an id for a new query of a case.
func FreeID(queries []catalog.CaseQuery) string {
	taken := map[string]bool{}
	for _, q := range queries {
		taken[q.ID] = true
	}
	n := len(queries) + 1
	for taken[fmt.Sprintf("q%d", n)] {
		n++
	}
	return fmt.Sprintf("q%d", n)
}
