package retrieval

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"almanac/embed"
	"almanac/retrieval/index"
	"almanac/retrieval/keyword"
	"almanac/retrieval/profile"
	"almanac/retrieval/rerank"
	"almanac/retrieval/vector"
)

// Config configures an Engine.
type Config struct {
	Follower *index.Follower
	// Profiles and Aliases are part of the first Relevance; see Publish.
	Profiles []profile.Profile
	Aliases  map[string][]string
	// Authority returns the prior of a record by its source, else by its kind.
	Authority map[string]float64
	// IsWord reports whether a folded word is known to be spelt right, however rare
	// in the corpus; nil: no word is.
	IsWord func(string) bool
	// Deadline bounds how long one search waits for engines; retrieving may take
	// three quarters of it. Engines that have not answered by then are reported as
	// degraded. Default 800 ms.
	Deadline time.Duration
	// CrossEncoder reorders the best candidates; nil: none.
	CrossEncoder CrossEncoder
	Now          func() time.Time // decides which pins are in force; default time.Now
	Log          *slog.Logger
}

// Engine is the Searcher over a keyword and a vector engine.
type Engine struct {
	follower   *index.Follower
	keyword    keyword.Engine
	vector     vector.Index
	embedder   embed.Embedder
	relevance  atomic.Pointer[relevance]
	authority  map[string]float64
	isWord     func(string) bool
	deadline   time.Duration
	now        func() time.Time
	log        *slog.Logger
	retrievers map[string]Retriever
	cross      CrossEncoder
	breakers   struct{ keyword, vector, embedder, reranker *breaker }
}

var _ Searcher = (*Engine)(nil)

// New returns an engine, or an error if Publish refuses the configuration.
func New(cfg Config) (*Engine, error) {
	engines := cfg.Follower.Engines()
	e := &Engine{follower: cfg.Follower, keyword: engines.Keyword, vector: engines.Vector, embedder: engines.Embedder,
		authority: cfg.Authority, isWord: cfg.IsWord, deadline: cmp.Or(cfg.Deadline, 800*time.Millisecond),
		now: cfg.Now, log: cfg.Log, retrievers: map[string]Retriever{}}
	if e.now == nil {
		e.now = time.Now
	}
	if e.isWord == nil {
		e.isWord = func(string) bool { return false }
	}
	e.breakers.keyword = newBreaker("keyword", engines.KeywordServer, cfg.Log)
	e.breakers.vector = newBreaker("vector", engines.VectorServer, cfg.Log)
	e.breakers.embedder = newBreaker("embedder", engines.EmbedderServer, cfg.Log)
	e.cross, e.breakers.reranker = cfg.CrossEncoder, newBreaker("reranker", true, cfg.Log)
	retrievers := []Retriever{
		keywordRetriever{"documents", e.keyword, keyword.Documents, e.breakers.keyword},
		keywordRetriever{"passages", e.keyword, keyword.Passages, e.breakers.keyword},
		denseRetriever{e.vector, e.breakers.vector},
	}
	if s, ok := e.vector.(vector.Sparse); ok {
		retrievers = append(retrievers, sparseRetriever{s, e.breakers.vector})
	}
	for _, r := range retrievers {
		e.retrievers[r.Name()] = r
	}
	if err := e.Publish(Relevance{Profiles: cfg.Profiles, Aliases: cfg.Aliases}); err != nil {
		return nil, err
	}
	return e, nil
}

// Search implements Searcher.
func (e *Engine) Search(ctx context.Context, r Request) (Response, error) {
	start := time.Now()
	if !e.follower.Ready() {
		return Response{}, ErrNotReady
	}
	r.Limit = cmp.Or(r.Limit, 10)
	if r.Limit < 0 || r.Offset < 0 || r.Limit+r.Offset > MaxResults {
		return Response{}, fmt.Errorf("%w: offset and limit together must not exceed %d", ErrBadQuery, MaxResults)
	}
	set := e.relevance.Load()
	prof, err := set.profile(r.Profile)
	if err != nil {
		return Response{}, err
	}
	timings := map[string]time.Duration{}
	lap := start
	step := func(name string) {
		now := time.Now()
		timings[name] = now.Sub(lap)
		lap = now
	}
	p, err := e.plan(r, set, prof)
	if err != nil {
		return Response{}, err
	}
	step("plan")
	retrieving, scoring, cancel := e.limit(ctx)
	defer cancel()
	lists, degraded, err := e.retrieve(retrieving, p)
	if err != nil {
		return Response{}, err
	}
	step("retrieve")
	candidates := e.candidates(p, lists)
	step("fuse")
	if prof.Order == "rerank" {
		var in []rerank.Candidate
		if in, degraded = e.gather(scoring, p, candidates, degraded); ctx.Err() != nil {
			return Response{}, ctx.Err()
		}
		step("cosines")
		e.rerank(p, candidates, in)
		candidates = aboveFloor(candidates, prof.Floor)
		step("rerank")
		degraded = e.reread(ctx, p, candidates, degraded)
		step("reread")
	}
	if prof.Collapse > 0 {
		candidates = e.collapse(candidates, prof.Collapse)
	}
	if r.Diversify {
		diversify(candidates)
	}
	candidates = e.pin(p, candidates)
	step("group")
	res := Response{Query: r.Query, Class: string(p.Query.Class), Total: len(candidates),
		Degraded: e.incomplete(degraded, p)}
	page := candidates[min(r.Offset, len(candidates)):min(r.Offset+r.Limit, len(candidates))]
	best := page[:min(len(page), max(r.Whole-r.Offset, 0))]
	if prof.Order == "rerank" {
		e.locate(scoring, p, best)
	}
	if res.Results, err = e.show(ctx, p, r, page, best, lists); err != nil {
		return Response{}, err
	}
	if len(r.Facets) > 0 {
		res.Facets, err = ask(scoring, e.breakers.keyword, func() (map[string]map[string]int, error) {
			return e.keyword.Facets(scoring, p.Keyword, p.Filter, r.Facets)
		})
		if err != nil {
			res.Degraded = without(res.Degraded, keywordSide)
		}
	}
	res.Corrected = p.corrected()
	step("show")
	res.Took = time.Since(start)
	if r.Explain {
		res.Timings = timings
	}
	return res, nil
}

// ranked is one retriever's result.
type ranked struct {
	list profile.List
	hits []Hit
	took time.Duration
}

// limit returns the contexts of the two parts of a search that call engines.
func (e *Engine) limit(ctx context.Context) (retrieving, scoring context.Context, cancel func()) {
	scoring, cancelScoring := context.WithTimeoutCause(ctx, e.deadline, errLate)
	retrieving, cancelRetrieving := context.WithTimeoutCause(scoring, e.deadline*3/4, errLate)
	return retrieving, scoring, func() { cancelRetrieving(); cancelScoring() }
}

// without adds a side to those missing from a response.
func without(degraded []string, side string) []string {
	if slices.Contains(degraded, side) {
		return degraded
	}
	return append(degraded, side)
}

// incomplete adds the sides whose engines are still being filled, or fail to take changes.
func (e *Engine) incomplete(degraded []string, p *Plan) []string {
	for _, h := range e.follower.Health() {
		asked := slices.ContainsFunc(p.Profile.Lists, func(l profile.List) bool { return sides[l.Retriever] == h.Name })
		if behind := !h.Complete || h.Err != nil && h.Lag > 0; asked && behind && !slices.Contains(degraded, h.Name) {
			degraded = append(degraded, h.Name)
		}
	}
	return degraded
}

// retrieve runs the profile's retrievers in parallel. The side of one that
// fails or is late is named in degraded; it is an error only if all fail.
func (e *Engine) retrieve(ctx context.Context, p *Plan) ([]ranked, []string, error) {
	lists := make([]ranked, len(p.Profile.Lists))
	errs := make([]error, len(lists))
	var wg sync.WaitGroup
	for i, l := range p.Profile.Lists {
		wg.Go(func() {
			start := time.Now()
			hits, err := e.retrievers[l.Retriever].Retrieve(ctx, p, p.Filter, l.Depth)
			lists[i], errs[i] = ranked{l, hits, time.Since(start)}, err
		})
	}
	wg.Wait()
	var degraded []string
	failed := 0
	for i, err := range errs {
		if err == nil {
			continue
		}
		failed++
		degraded = without(degraded, sides[lists[i].list.Retriever])
	}
	if failed == len(lists) {
		return nil, nil, fmt.Errorf("%w: %w", ErrUnavailable, errors.Join(errs...))
	}
	return lists, degraded, nil
}

// Status implements Searcher.
func (e *Engine) Status(context.Context) Status {
	lag, progress := e.follower.Lag()
	records, passages := e.follower.Corpus().Size()
	return Status{Ready: e.follower.Ready(), Answers: e.answers(), Progress: progress, Records: records, Passages: passages, Lag: lag,
		Model: e.embedder.Model(), Down: e.down()}
}

// answers reports whether an engine takes part in searches and holds everything.
// One that the next search tries again counts unless the follower knows better:
// who is not ready gets no searches that could try it.
func (e *Engine) answers() bool {
	_, sparse := e.vector.(vector.Sparse) // needs no model
	words := !e.breakers.keyword.open()
	vectors := !e.breakers.vector.open() && (sparse || !e.breakers.embedder.open())
	for _, h := range e.follower.Health() {
		if h.Complete && !h.Away {
			continue
		}
		switch h.Name {
		case "keyword":
			words = false
		case "vector":
			vectors = false
		}
	}
	return words || vectors
}

// down names the engines that do not answer, take no changes or are incomplete.
func (e *Engine) down() []Down {
	var out []Down
	for _, b := range []*breaker{e.breakers.keyword, e.breakers.vector, e.breakers.embedder, e.breakers.reranker} {
		if err := b.down(); err != nil {
			out = append(out, Down{b.name, err.Error()})
		}
	}
	for _, h := range e.follower.Health() {
		if slices.ContainsFunc(out, func(d Down) bool { return d.Engine == h.Name }) {
			continue
		}
		switch {
		case h.Err != nil:
			out = append(out, Down{h.Name, h.Err.Error()})
		case !h.Complete:
			out = append(out, Down{h.Name, fmt.Sprintf("it is being filled; %d changes are to come", h.Lag)})
		}
	}
	return out
}
