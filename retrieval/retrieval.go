// Package retrieval answers a query. A search makes a plan of the request, gathers
// candidates from the engines, takes them through the stages that order them, and makes
// results of the best. It has no transport.
package retrieval

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"

	"almanac/retrieval/dedup"
	"almanac/retrieval/index"
	"almanac/retrieval/keyword"
	"almanac/retrieval/passage"
	"almanac/retrieval/ranking"
	"almanac/retrieval/trace"
	"almanac/retrieval/vector"
)

// What decides the order of results, as callers name it.
type (
	Relevance = ranking.Relevance
	Pin       = ranking.Pin
	Place     = ranking.Place
)

// MaxResults is how deep a ranking can be read: Limit + Offset.
const MaxResults = ranking.MaxPosition

// ErrNotReady: the first index is not complete.
var ErrNotReady = errors.New("index not ready")

// Searcher is the interface of the search engine.
type Searcher interface {
	// Search ranks. A query with nothing to search for or too many operators is
	// ErrBadQuery; before the first index is complete ErrNotReady.
	Search(ctx context.Context, r Request) (Response, error)
	// Status returns what is indexed and how far it is behind the catalog.
	Status(ctx context.Context) Status
}

// Status is the state of the index.
type Status struct {
	Ready    bool
	Progress float64 // 0 to 1 of the first index
	Records  int
	Passages int
	Lag      int64 // changes not yet indexed
	Model    string
	Down     []Down   // empty while everything answers and is complete
	Next     *Filling // the index of another model that is built beside this one; nil: none
	Remark   string   // why the index is not of the better model
	// Breakers are those of engines on servers: open ones are not called for now.
	Breakers map[string]bool
}

// Filling is how far an index is that is built.
type Filling struct {
	Model    string
	Vectors  int // passages that have one
	Passages int
	Left     time.Duration // estimated; 0: unknown
}

// Share is the part that is done, from 0 to 1.
func (f Filling) Share() float64 {
	if f.Passages == 0 {
		return 0
	}
	return float64(f.Vectors) / float64(f.Passages)
}

// Config configures an Engine.
type Config struct {
	Follower  *index.Follower
	Relevance // the first; see Publish
	// Transformed: vectors are those of a transformer, be it here or on a server.
	Transformed bool
	// Unrelated is a cosine that texts of other subjects have by the model too.
	Unrelated float64
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
	// Now is the clock of searches, which decides which pins are in force; default
	// time.Now.
	Now func() time.Time
	Log *slog.Logger
}

// Engine is the Searcher over a keyword and a vector engine.
type Engine struct {
	index.Engines
	follower    *index.Follower
	cross       CrossEncoder // nil: none
	retrievers  map[string]retriever
	breakers    [len(engineNames)]*breaker
	deadline    time.Duration
	relevance   atomic.Pointer[ranking.Set]
	scratches   sync.Pool // of *scratch
	state       state     // but for what changes
	now         func() time.Time
	transformed bool
	log         *slog.Logger
}

var _ Searcher = (*Engine)(nil)

// New returns an engine, or an error if Publish refuses the configuration.
func New(cfg Config) (*Engine, error) {
	e := &Engine{Engines: cfg.Follower.Engines(), follower: cfg.Follower, cross: cfg.CrossEncoder, now: cfg.Now,
		deadline: cmp.Or(cfg.Deadline, 800*time.Millisecond), transformed: cfg.Transformed, log: cfg.Log}
	for i, server := range []bool{e.KeywordServer, e.VectorServer, e.EmbedderServer, e.cross != nil} {
		e.breakers[i] = newBreaker(engineNames[i], server, e.log)
	}
	e.retrievers = map[string]retriever{"documents": lexical(e.Keyword, keyword.Documents),
		"passages": lexical(e.Keyword, keyword.Passages), "dense": nearest(e.Vector)}
	if s, ok := e.Vector.(vector.Sparse); ok {
		e.retrievers["sparse"] = sparse(s)
	}
	e.state = state{Usable: e.usable, Crossed: e.cross != nil, IsWord: cfg.IsWord,
		Authority: cfg.Authority, Unrelated: cfg.Unrelated}
	if e.now == nil {
		e.now = time.Now
	}
	if cfg.IsWord == nil {
		e.state.IsWord = func(string) bool { return false }
	}
	e.scratches.New = func() any {
		return &scratch{of: make(map[int64]*candidate), known: make(map[passage.ID]float32)}
	}
	return e, e.Publish(cfg.Relevance)
}

// Publish replaces what decides the order of results, atomically. On an error
// everything stays as it was. A profile that names an unknown retriever or
// feature is an error; a retriever that these engines lack is left out of its
// lists.
func (e *Engine) Publish(r Relevance) error {
	set, err := ranking.Compile(r.For(e.transformed), e.has)
	if err == nil {
		e.relevance.Store(set)
	}
	return err
}

// Status implements Searcher.
func (e *Engine) Status(context.Context) Status {
	lag, progress := e.follower.Lag()
	records, passages := e.follower.Corpus().Size()
	return Status{Ready: e.follower.Ready(), Progress: progress, Records: records,
		Passages: passages, Lag: lag,
		Model: e.Embedder.Model(), Down: e.down(), Breakers: e.open()}
}

// plan prepares a request.
func (e *Engine) plan(r Request, t *trace.Trace) (*plan, error) {
	if !e.follower.Ready() {
		return nil, ErrNotReady
	}
	set := e.relevance.Load()
	if r.Relevance != nil {
		var err error
		if set, err = ranking.Compile(r.Relevance.For(e.transformed), e.has); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrBadQuery, err)
		}
	}
	state := e.state
	state.Corpus, state.Time = e.follower.Corpus(), t.Begun()
	p, err := newPlan(r, set, state)
	t.End("plan")
	return p, err
}

// Search implements Searcher.
func (e *Engine) Search(ctx context.Context, r Request) (res Response, err error) {
	ctx, s := otel.Tracer("almanac").Start(ctx, "search")
	s.SetAttributes(attribute.Int("query.length", len(r.Query)), attribute.String("query", r.Query))
	defer func() {
		s.SetAttributes(attribute.String("class", res.Class), attribute.Int("results", res.Total),
			attribute.String("degraded", strings.Join(res.Degraded, " ")))
		trace.End(s, err)
	}()
	t := trace.New(ctx, e.now)
	r.Limit = cmp.Or(r.Limit, 10)
	if r.Limit < 0 || r.Offset < 0 || r.Limit+r.Offset > MaxResults {
		return Response{}, fmt.Errorf("%w: offset and limit together must not exceed %d", ErrBadQuery, MaxResults)
	}
	p, err := e.plan(r, t)
	if err != nil {
		return Response{}, err
	}
	res = Response{Query: p.Request.Query, Class: string(p.Query.Class), Corrected: p.Corrected(),
		Kept: p.Query.Kept}
	if !r.Plain {
		res.Unknown = p.Unknown()
	}
	f, err := e.gather(ctx, p, t)
	if err != nil {
		return Response{}, err
	}
	defer f.close()
	list := f.arrange(stages)
	res.Total = len(list)
	if res.Facets, err = countFacets(r.Facets, list); err != nil {
		return Response{}, err
	}
	res.Results, err = f.results(list[min(r.Offset, len(list)):min(r.Offset+r.Limit, len(list))])
	if err != nil {
		return Response{}, err
	}
	if len(list) == 0 && len(f.without) == 0 {
		res.Relaxed = e.relaxed(ctx, p)
	}
	res.Degraded = f.degraded()
	t.End("show")
	if r.Explain {
		res.Read = p.Read()
	}
	res.Took, res.Timings = t.Took(), t.Timings
	return res, nil
}

// relaxed says what a search that found nothing would find without its operators:
// without each of them if there are few, or else without all. It is not called while
// an engine is missing, which may have had the results.
func (e *Engine) relaxed(ctx context.Context, p *plan) (out []Relaxed) {
	ctx, s := trace.Span(ctx, "relaxed")
	defer s.End()
	each, without := p.looser()
	for _, some := range [][]looser{each, without} {
		for _, l := range some {
			if n := e.total(ctx, p, l); n > 0 {
				out = append(out, Relaxed{Without: l.Without, Total: n})
			}
		}
		if len(out) > 0 {
			break
		}
	}
	return out
}

// total returns how many results a plan would have with another query; 0 on an error.
func (e *Engine) total(ctx context.Context, p *plan, l looser) int {
	p, err := p.With(l.Query)
	if err != nil {
		return 0
	}
	r, err := e.gather(ctx, p, trace.New(ctx, e.now))
	if err != nil {
		return 0
	}
	defer r.close()
	return len(r.arrange(stages))
}

// Signal is a candidate's signals, as training reads them.
type Signal struct {
	Record int64
	Raw    ranking.Vector // as computed
	Z      ranking.Vector // normalised over the query's candidates
	// Copies are the indexes of the signals whose records are near-identical to
	// this one; the one with the greatest Preference is shown.
	Copies     []int
	Preference int
}

// Signals returns the signals of every candidate of a query, best first: what Search orders before it groups.
func (e *Engine) Signals(ctx context.Context, r Request) (signals []Signal, err error) {
	t := trace.New(ctx, e.now)
	p, err := e.plan(r, t)
	if err != nil {
		return nil, err
	}
	p.Profile.Order = ranking.Rerank // as it would be
	f, err := e.gather(ctx, p, t)
	if err != nil {
		return nil, err
	}
	defer f.close()
	if len(f.without) > 0 {
		return nil, fmt.Errorf("retrieval: signals are incomplete without %v", f.without)
	}
	list := f.arrange(scoring)
	for i, c := range list {
		x := Signal{Record: c.Record, Raw: c.Features, Z: c.Z}
		for j, other := range list {
			if similar := p.Profile.Collapse; similar > 0 && j != i &&
				dedup.Same(c.Document.Signature(), other.Document.Signature(), similar) {
				x.Copies = append(x.Copies, j)
			}
			if preferred(p, c, other) {
				x.Preference++
			}
		}
		signals = append(signals, x)
	}
	return signals, nil
}
