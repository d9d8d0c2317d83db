package eval

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"almanac/retrieval"
	"almanac/retrieval/passage"
)

// Report is the result of a run. Its measures are means over the queries that
// were measured: a failure is not a zero, and is counted beside them.
type Report struct {
	Collection string `json:"collection"`
	Profile    string `json:"profile"`
	Queries    int    `json:"queries"` // asked
	Measures
	Interval
	P50Ms   float64         `json:"p50_ms"`
	P99Ms   float64         `json:"p99_ms"`
	Kinds   map[string]Kind `json:"kinds"`
	Answers *Answers        `json:"answers,omitempty"`
	// Failed counts searches without an answer, Degraded those that an engine did not
	// take part in: then it is not the profile that was measured.
	Failed     int         `json:"failed,omitempty"`
	Degraded   int         `json:"degraded,omitempty"`
	Comparison *Comparison `json:"comparison,omitempty"` // with the first of several profiles

	PerQuery []QueryReport `json:"-"`
}

// Kind is the share of one kind of query.
type Kind struct {
	Queries int `json:"queries"`
	Measures
	Interval
	Answers *Answers `json:"answers,omitempty"`
}

// QueryReport is one query's ranking with its measures.
type QueryReport struct {
	Query   Query     `json:"query"`
	Ranking []string  `json:"ranking"`           // document ids, best first, each once
	Scores  []float64 `json:"-"`                 // of the ranking
	Failure string    `json:"failure,omitempty"` // why it was not measured; "" if it was
	Measures
	reading *reading
	took    time.Duration
}

// Options of a run.
type Options struct {
	Profile string
	// Relevance, if set, ranks by its default profile; Profile is then only its name.
	Relevance    *retrieval.Relevance
	RelevantFrom int // grade from which a document counts as relevant; default 1
	// Names maps record ids to document ids; several records of one document
	// count once, at the best rank.
	Names map[int64]string
	// Same tells copies besides those that the collection names. Copies share one
	// place; see Measure.
	Same Same
	// Answers, if set, measures what a client reads until it has the answer.
	Answers *AnswerOptions
	// Brief reads rankings only as deep as nDCG@10 asks, by one search: deeper measures
	// and times are then not known.
	Brief bool
	// Progress, if set, is called with the number of queries done.
	Progress func(done, total int)
}

// Run ranks every query of the collection. A query that the searcher rejects
// counts with an empty ranking, as people see nothing. It is an error if no query
// could be measured.
func Run(ctx context.Context, s retrieval.Searcher, c Collection, o Options) (Report, error) {
	r := Report{Collection: c.Name, Profile: o.Profile}
	o.RelevantFrom = cmp.Or(o.RelevantFrom, 1)
	var filter passage.Filter
	if c.Pool != nil {
		if filter.Records = pooled(c, o.Names); len(filter.Records) == 0 {
			return r, fmt.Errorf("eval: %s: no document of the pool is indexed", c.Name)
		}
	}
	var failures []error
	for i, q := range c.Queries {
		x, failure, err := o.ask(ctx, s, q, filter, c.Judgments[q.ID])
		if err != nil {
			return r, fmt.Errorf("eval: query %s: %w", q.ID, err)
		}
		if failure != nil {
			x.Failure = failure.Error()
			failures = append(failures, fmt.Errorf("eval: query %s: %w", q.ID, failure))
			if _, partial := errors.AsType[degraded](failure); partial {
				r.Degraded++
			} else {
				r.Failed++
			}
		}
		r.PerQuery = append(r.PerQuery, x)
		if o.Progress != nil {
			o.Progress(i+1, len(c.Queries))
		}
	}
	if len(failures) > 0 && len(failures) == len(c.Queries) {
		return r, failures[0]
	}
	r.measure(c, o)
	return r, nil
}

// degraded are the engines that a search did without.
type degraded []string

// Error implements error.
func (d degraded) Error() string { return "without " + strings.Join(d, ", ") }

// ask ranks one query. A failure is that of the query alone, an error one of the run.
func (o Options) ask(ctx context.Context, s retrieval.Searcher, q Query, filter passage.Filter,
	judgments map[string]int) (x QueryReport, failure, err error) {
	x.Query = q
	// Only a client's request is timed: a page of ten, of all kinds. The ranking is
	// read deeper.
	page := retrieval.Request{Query: q.Text, Filter: filter, Limit: Cut, Diversify: true, Relevance: o.Relevance}
	if o.Relevance == nil {
		page.Profile = o.Profile
	}
	whole := page
	whole.Limit, whole.Diversify = 2*RecallCut, false
	var first retrieval.Response
	if o.Brief {
		whole.Limit = 3 * Cut // records of one document count once
	} else {
		start := time.Now()
		first, err = s.Search(ctx, page)
		x.took = time.Since(start)
	}
	deep, deepErr := s.Search(ctx, whole)
	switch err = cmp.Or(err, deepErr); {
	case ctx.Err() != nil || errors.Is(err, retrieval.ErrNotReady):
		return x, nil, cmp.Or(ctx.Err(), err)
	case err != nil && !errors.Is(err, retrieval.ErrBadQuery):
		return x, err, nil
	}
	if without := slices.Concat(first.Degraded, deep.Degraded); len(without) > 0 {
		slices.Sort(without)
		failure = degraded(slices.Compact(without))
	}
	x.Ranking, x.Scores = documents(deep, o.Names)
	if o.Answers == nil {
		return x, failure, nil
	}
	x.reading, err = o.Answers.read(ctx, first.Results, o.Names, judgments, o.RelevantFrom)
	return x, failure, err
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
	var took []float64
	same := c.same(o.Same)
	for i := range r.PerQuery {
		x := &r.PerQuery[i]
		if x.Failure == "" {
			x.Measures = Measure(x.Ranking, c.Judgments[x.Query.ID], o.RelevantFrom, same)
			took = append(took, float64(x.took.Microseconds())/1000)
		}
		byKind[x.Query.Kind] = append(byKind[x.Query.Kind], *x)
	}
	for kind, of := range byKind {
		if kind != "" {
			r.Kinds[kind] = Kind{len(of), mean(of), Bootstrap(values(of)), answers(of)}
		}
	}
	slices.Sort(took)
	r.P50Ms, r.P99Ms = percentile(took, 0.5), percentile(took, 0.99)
	r.Measures, r.Answers = mean(r.PerQuery), answers(r.PerQuery)
	r.Interval = Bootstrap(values(r.PerQuery))
}

// Unmeasured counts the queries that are in no mean.
func (r Report) Unmeasured() int { return r.Failed + r.Degraded }

// values returns nDCG@10 of the queries that were measured.
func values(of []QueryReport) (out []float64) {
	for _, x := range of {
		if x.Failure == "" {
			out = append(out, x.NDCG10)
		}
	}
	return out
}

// Pair is a query that two runs measured.
type Pair struct{ Ours, Theirs QueryReport }

// Pairs returns what both of two runs measured, in the order of the first: runs at
// different times may have different queries.
func Pairs(ours, theirs []QueryReport) (pairs []Pair) {
	byID := make(map[string]QueryReport, len(theirs))
	for _, x := range theirs {
		byID[x.Query.ID] = x
	}
	for _, x := range ours {
		if y, ok := byID[x.Query.ID]; ok && x.Failure == "" && y.Failure == "" {
			pairs = append(pairs, Pair{x, y})
		}
	}
	return pairs
}

// ComparePairs is Compare of nDCG@10.
func ComparePairs(pairs []Pair) Comparison {
	ours, theirs := make([]float64, len(pairs)), make([]float64, len(pairs))
	for i, p := range pairs {
		ours[i], theirs[i] = p.Ours.NDCG10, p.Theirs.NDCG10
	}
	return Compare(ours, theirs, nil)
}

// CompareTo sets the comparison with another report on the same collection.
func (r *Report) CompareTo(first Report) {
	c := ComparePairs(Pairs(r.PerQuery, first.PerQuery))
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

// documents returns those of a response, each at its best rank.
func documents(res retrieval.Response, byRecord map[int64]string) (ids []string, scores []float64) {
	seen := map[string]bool{}
	for _, x := range res.Results {
		if name := byRecord[x.Record]; name != "" && !seen[name] {
			seen[name] = true
			ids, scores = append(ids, name), append(scores, x.Score)
		}
	}
	return ids, scores
}
