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

// Report is the result of a run.
type Report struct {
	Collection string `json:"collection"`
	Profile    string `json:"profile"`
	Queries    int    `json:"queries"`
	Measures
	Interval
	P50Ms   float64         `json:"p50_ms"`
	P99Ms   float64         `json:"p99_ms"`
	Kinds   map[string]Kind `json:"kinds"`
	Answers *Answers        `json:"answers,omitempty"`
	// Degraded counts searches that an engine did not take part in: then it is not
	// the profile that was measured.
	Degraded   int         `json:"degraded,omitempty"`
	Comparison *Comparison `json:"comparison,omitempty"` // with the first of several profiles

	PerQuery []QueryReport `json:"-"`
}

// Kind is the share of one kind of query.
type Kind struct {
	Queries int `json:"queries"`
	Measures
	Answers *Answers `json:"answers,omitempty"`
}

// QueryReport is one query's ranking with its measures.
type QueryReport struct {
	Query   Query
	Ranking []string  // document ids, best first, each once
	Scores  []float64 // of the ranking
	Measures
	reading *reading
	took    time.Duration
}

// Options of a run.
type Options struct {
	Profile      string
	RelevantFrom int // grade from which a document counts as relevant; default 1
	// Names maps record ids to document ids; several records of one document
	// count once, at the best rank.
	Names map[int64]string
	// Same tells copies besides those that the collection names. Copies share one
	// place; see Measure.
	Same Same
	// Answers, if set, measures what a client reads until it has the answer.
	Answers *AnswerOptions
	// Progress, if set, is called with the number of queries done.
	Progress func(done, total int)
}

// Run ranks every query of the collection. A query that the searcher rejects
// counts with an empty ranking.
func Run(ctx context.Context, s retrieval.Searcher, c Collection, o Options) (Report, error) {
	r := Report{Collection: c.Name, Profile: o.Profile}
	o.RelevantFrom = cmp.Or(o.RelevantFrom, 1)
	var filter passage.Filter
	if c.Pool != nil {
		if filter.Records = pooled(c, o.Names); len(filter.Records) == 0 {
			return r, fmt.Errorf("eval: %s: no document of the pool is indexed", c.Name)
		}
	}
	for i, q := range c.Queries {
		// Only a client's request is timed: a page of ten, of all kinds. The ranking is
		// read deeper.
		page := retrieval.Request{Query: q.Text, Filter: filter, Limit: Cut, Diversify: true, Profile: o.Profile}
		start := time.Now()
		first, err := s.Search(ctx, page)
		took := time.Since(start)
		deep, deepErr := s.Search(ctx, retrieval.Request{Query: q.Text, Filter: filter, Limit: 2 * RecallCut,
			Profile: o.Profile})
		if err = cmp.Or(err, deepErr); err != nil && !errors.Is(err, retrieval.ErrBadQuery) {
			return r, fmt.Errorf("eval: query %s: %w", q.ID, err)
		}
		if len(first.Degraded)+len(deep.Degraded) > 0 {
			r.Degraded++
		}
		x := QueryReport{Query: q, took: took}
		x.Ranking, x.Scores = ranking(deep, o.Names)
		if o.Answers != nil {
			if x.reading, err = o.Answers.read(ctx, first.Results, o.Names, c.Judgments[q.ID],
				o.RelevantFrom); err != nil {
				return r, fmt.Errorf("eval: query %s: %w", q.ID, err)
			}
		}
		r.PerQuery = append(r.PerQuery, x)
		if o.Progress != nil {
			o.Progress(i+1, len(c.Queries))
		}
	}
	r.measure(c, o)
	return r, nil
}

// Evaluate measures rankings that were made elsewhere: document ids by query,
// best first. Documents outside of the collection's pool are skipped; a query
// without a ranking counts with an empty one. Scores are the negative ranks.
func Evaluate(c Collection, rankings map[string][]string, o Options) Report {
	r := Report{Collection: c.Name, Profile: o.Profile}
	o.RelevantFrom = cmp.Or(o.RelevantFrom, 1)
	for _, q := range c.Queries {
		x := QueryReport{Query: q}
		seen := map[string]bool{}
		for _, id := range rankings[q.ID] {
			if !seen[id] && (c.Pool == nil || c.Pool[id]) {
				seen[id] = true
				x.Ranking = append(x.Ranking, id)
				x.Scores = append(x.Scores, -float64(len(x.Ranking)))
			}
		}
		r.PerQuery = append(r.PerQuery, x)
	}
	r.measure(c, o)
	return r
}

// measure fills a report from its rankings.
func (r *Report) measure(c Collection, o Options) {
	r.Queries, r.Kinds = len(r.PerQuery), map[string]Kind{}
	byKind := map[string][]QueryReport{}
	took := make([]float64, len(r.PerQuery))
	same := c.same(o.Same)
	for i := range r.PerQuery {
		x := &r.PerQuery[i]
		x.Measures = Measure(x.Ranking, c.Judgments[x.Query.ID], o.RelevantFrom, same)
		took[i] = float64(x.took.Microseconds()) / 1000
		byKind[x.Query.Kind] = append(byKind[x.Query.Kind], *x)
	}
	for kind, of := range byKind {
		if kind != "" {
			r.Kinds[kind] = Kind{len(of), mean(of), answers(of)}
		}
	}
	slices.Sort(took)
	r.P50Ms, r.P99Ms = percentile(took, 0.5), percentile(took, 0.99)
	r.Measures, r.Answers = mean(r.PerQuery), answers(r.PerQuery)
	r.Interval = Bootstrap(r.values())
}

// values returns nDCG@10 by query.
func (r *Report) values() []float64 {
	out := make([]float64, len(r.PerQuery))
	for i, x := range r.PerQuery {
		out[i] = x.NDCG10
	}
	return out
}

// CompareTo sets the comparison with another report on the same collection.
func (r *Report) CompareTo(first Report) {
	c := Compare(r.values(), first.values(), nil)
	c.Against = first.Profile
	r.Comparison = &c
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

// ranking returns the documents of a response, each at its best rank.
func ranking(res retrieval.Response, byRecord map[int64]string) (ids []string, scores []float64) {
	seen := map[string]bool{}
	for _, x := range res.Results {
		if name := byRecord[x.Record]; name != "" && !seen[name] {
			seen[name] = true
			ids, scores = append(ids, name), append(scores, x.Score)
		}
	}
	return ids, scores
}
