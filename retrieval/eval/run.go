package eval

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"almanac/retrieval"
	"almanac/retrieval/passage"
)

// Report is what a run measured.
type Report struct {
	Collection string `json:"collection"`
	Profile    string `json:"profile"`
	Queries    int    `json:"queries"`
	Measures
	P50Ms float64         `json:"p50_ms"`
	P99Ms float64         `json:"p99_ms"`
	Kinds map[string]Kind `json:"kinds"`

	PerQuery []QueryReport `json:"-"`
}

// Kind is the share of one kind of query.
type Kind struct {
	Queries int `json:"queries"`
	Measures
}

// QueryReport is one query's ranking with its measures.
type QueryReport struct {
	Query   Query
	Ranking []string // document ids, best first, each once
	Measures
}

// Options of a run.
type Options struct {
	Profile      string
	RelevantFrom int // grade from which a document counts as relevant; default 1
	// Names maps record ids to document ids; several records of one document
	// count once, at the best rank.
	Names map[int64]string
	// Progress, when set, is told how many queries are done.
	Progress func(done, total int)
}

// Run ranks every query of the collection.
func Run(ctx context.Context, s retrieval.Searcher, c Collection, o Options) (Report, error) {
	r := Report{Collection: c.Name, Profile: o.Profile, Queries: len(c.Queries), Kinds: map[string]Kind{}}
	if o.RelevantFrom == 0 {
		o.RelevantFrom = 1
	}
	var filter passage.Filter
	if c.Pool != nil {
		if filter.Records = pooled(c, o.Names); len(filter.Records) == 0 {
			return r, fmt.Errorf("eval: %s: no document of the pool is indexed", c.Name)
		}
	}
	all := make([]Measures, 0, len(c.Queries))
	byKind := map[string][]Measures{}
	took := make([]float64, 0, len(c.Queries))
	for i, q := range c.Queries {
		// What is timed is what a user asks for: a page of ten. The ranking is
		// read deeper.
		req := retrieval.Request{Query: q.Text, Filter: filter, Limit: Cut, Profile: o.Profile}
		start := time.Now()
		_, err := s.Search(ctx, req)
		took = append(took, float64(time.Since(start).Microseconds())/1000)
		req.Limit = 2 * RecallCut
		res, deepErr := s.Search(ctx, req)
		if err = cmp.Or(err, deepErr); err != nil && !errors.Is(err, retrieval.ErrBadQuery) {
			return r, fmt.Errorf("eval: query %s: %w", q.ID, err)
		}
		ranking := names(res, o.Names)
		m := Measure(ranking, c.Judgments[q.ID], o.RelevantFrom)
		all, byKind[q.Kind] = append(all, m), append(byKind[q.Kind], m)
		r.PerQuery = append(r.PerQuery, QueryReport{q, ranking, m})
		if o.Progress != nil {
			o.Progress(i+1, len(c.Queries))
		}
	}
	r.Measures = mean(all)
	for kind, ms := range byKind {
		if kind != "" {
			r.Kinds[kind] = Kind{len(ms), mean(ms)}
		}
	}
	slices.Sort(took)
	r.P50Ms, r.P99Ms = percentile(took, 0.5), percentile(took, 0.99)
	return r, nil
}

// pooled returns the records of the pool's documents.
func pooled(c Collection, names map[int64]string) []int64 {
	var records []int64
	for id, name := range names {
		if c.Pool[name] {
			records = append(records, id)
		}
	}
	slices.Sort(records)
	return records
}

func names(res retrieval.Response, byRecord map[int64]string) []string {
	seen := map[string]bool{}
	var out []string
	for _, x := range res.Results {
		if name := byRecord[x.Record]; name != "" && !seen[name] {
			seen[name] = true
			out = append(out, name)
		}
	}
	return out
}
