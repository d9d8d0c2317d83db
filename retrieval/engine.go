package retrieval

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"almanac/embed"
	"almanac/retrieval/index"
	"almanac/retrieval/keyword"
	"almanac/retrieval/profile"
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
	vector     vector.Index
	embedder   embed.Embedder
	cross      CrossEncoder
	retrievers map[string]Retriever
	breakers   breakers
	relevance  atomic.Pointer[relevance]
	memories   sync.Pool // of *memory
	authority  map[string]float64
	isWord     func(string) bool
	deadline   time.Duration
	now        func() time.Time
	log        *slog.Logger
}

var _ Searcher = (*Engine)(nil)

// New returns an engine, or an error if Publish refuses the configuration.
func New(cfg Config) (*Engine, error) {
	engines := cfg.Follower.Engines()
	e := &Engine{follower: cfg.Follower, vector: engines.Vector, embedder: engines.Embedder, cross: cfg.CrossEncoder,
		authority: cfg.Authority, isWord: cfg.IsWord, deadline: cmp.Or(cfg.Deadline, 800*time.Millisecond),
		now: cfg.Now, log: cfg.Log, retrievers: map[string]Retriever{}}
	if e.now == nil {
		e.now = time.Now
	}
	if e.isWord == nil {
		e.isWord = func(string) bool { return false }
	}
	e.memories.New = func() any { return newMemory() }
	e.breakers.keyword = newBreaker("keyword", engines.KeywordServer, cfg.Log)
	e.breakers.vector = newBreaker("vector", engines.VectorServer, cfg.Log)
	e.breakers.embedder = newBreaker("embedder", engines.EmbedderServer, cfg.Log)
	e.breakers.reranker = newBreaker("reranker", true, cfg.Log)
	retrievers := []Retriever{
		keywordRetriever{"documents", engines.Keyword, keyword.Documents},
		keywordRetriever{"passages", engines.Keyword, keyword.Passages},
		denseRetriever{engines.Vector},
	}
	if s, ok := engines.Vector.(vector.Sparse); ok {
		retrievers = append(retrievers, sparseRetriever{s})
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
	r.Limit = cmp.Or(r.Limit, 10)
	if r.Limit < 0 || r.Offset < 0 || r.Limit+r.Offset > MaxResults {
		return Response{}, fmt.Errorf("%w: offset and limit together must not exceed %d", ErrBadQuery, MaxResults)
	}
	counts, err := attributesNamed(r.Facets)
	if err != nil {
		return Response{}, err
	}
	s, err := e.begin(ctx, r)
	if err != nil {
		return Response{}, err
	}
	defer s.end()
	candidates, err := s.rank()
	if err != nil {
		return Response{}, err
	}
	page := candidates[min(r.Offset, len(candidates)):min(r.Offset+r.Limit, len(candidates))]
	res := Response{Query: r.Query, Class: string(s.plan.Query.Class), Total: len(candidates),
		Facets: counts.of(candidates), Corrected: s.plan.corrected()}
	if res.Results, err = s.show(page); err != nil {
		return Response{}, err
	}
	if len(candidates) == 0 {
		res.Relaxed = s.relaxed()
	}
	s.lap("show")
	if r.Explain {
		res.Read = s.plan.read()
	}
	res.Degraded = s.incomplete()
	res.Took, res.Timings = time.Since(start), s.timings
	return res, nil
}
