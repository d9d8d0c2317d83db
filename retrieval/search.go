package retrieval

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"almanac/retrieval/dedup"
	"almanac/retrieval/profile"
	"almanac/retrieval/query"
)

// search is a search under way.
type search struct {
	*Engine
	ctx                 context.Context
	retrieving, scoring context.Context // of the two parts that call engines
	cancel              func()
	request             Request
	plan                *Plan
	lists               []ranked
	near                cosines
	memory              *memory
	degraded            []string
	timings             map[string]time.Duration
	begun               time.Time // when the stage under way began
}

// begin plans a request; end must be called.
func (e *Engine) begin(ctx context.Context, r Request) (*search, error) {
	if !e.follower.Ready() {
		return nil, ErrNotReady
	}
	set := e.relevance.Load()
	if r.Relevance != nil {
		var err error
		if set, err = e.compiled(*r.Relevance); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrBadQuery, err)
		}
	}
	prof, err := set.profile(r.Profile)
	if err != nil {
		return nil, err
	}
	begun := time.Now()
	parse := query.Parse
	if r.Plain {
		parse = query.Plain
	}
	q, err := parse(r.Query)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrBadQuery, err)
	}
	p, err := e.plan(r, q, set, prof)
	if err != nil {
		return nil, err
	}
	return e.search(ctx, r, p, begun), nil
}

// search returns the search of a plan.
func (e *Engine) search(ctx context.Context, r Request, p *Plan, begun time.Time) *search {
	s := &search{Engine: e, ctx: ctx, request: r, plan: p, timings: map[string]time.Duration{}, begun: begun,
		memory: e.memories.Get().(*memory)}
	s.near.known = s.memory.known
	var cancelScoring, cancelRetrieving context.CancelFunc
	s.scoring, cancelScoring = context.WithTimeoutCause(ctx, e.deadline, errLate)
	s.retrieving, cancelRetrieving = context.WithTimeoutCause(s.scoring, e.deadline*3/4, errLate)
	s.cancel = func() { cancelRetrieving(); cancelScoring() }
	s.lap("plan")
	return s
}

// end counts what the engines did and releases the deadlines and the memory.
func (s *search) end() {
	s.cancel()
	s.near.wait()
	for _, t := range s.plan.trials.all() {
		t.end()
	}
	s.memory.release()
	s.memories.Put(s.memory)
}

// lap ends a stage.
func (s *search) lap(stage string) {
	now := time.Now()
	s.timings[stage] += now.Sub(s.begun)
	s.begun = now
}

// without adds an engine to those missing from the response.
func (s *search) without(engine string) {
	if !slices.Contains(s.degraded, engine) {
		s.degraded = append(s.degraded, engine)
	}
}

// rank returns everything found, in the order it is shown.
func (s *search) rank() ([]*candidate, error) {
	candidates, err := s.found()
	if err != nil {
		return nil, err
	}
	return s.order(candidates)
}

// order scores candidates and groups them, best first.
func (s *search) order(candidates []*candidate) ([]*candidate, error) {
	p := s.plan.Profile
	if p.Order == "rerank" {
		in := s.gather(candidates)
		if s.ctx.Err() != nil {
			return nil, s.ctx.Err()
		}
		s.lap("cosines")
		s.rerank(candidates, in)
		candidates = aboveFloor(candidates, p.Floor)
		s.lap("rerank")
	}
	if p.Collapse > 0 {
		candidates = s.collapse(candidates, func(i int) dedup.Signature { return candidates[i].document.Signature() })
		if s.request.Distinct {
			candidates = onceEachThread(s.distinct(candidates))
		}
		s.note(candidates, "collapse", "the best rank of its copies")
		s.lap("collapse")
	}
	if p.Order == "rerank" {
		s.crossEncode(candidates)
		s.note(candidates, crossEncoder, "the score of the place it moved to")
		s.lap(crossEncoder)
	}
	if s.request.Diversify {
		diversify(candidates, p.Rules.DiverseShare)
		s.note(candidates, "diversify", "never above the result before it")
	}
	candidates = s.pin(candidates)
	s.note(candidates, "pin", "the score of the result after it")
	s.lap("group")
	return candidates, nil
}

// found retrieves and fuses.
func (s *search) found() ([]*candidate, error) {
	if err := s.retrieve(); err != nil {
		return nil, err
	}
	s.lap("retrieve")
	candidates := s.candidates()
	s.note(candidates, "fusion", "")
	s.lap("fuse")
	return candidates, nil
}

// ranked is one retriever's result.
type ranked struct {
	list profile.List
	hits []Hit
}

// retrieve runs the plan's retrievers in parallel. The engine of one that fails
// or is late is named in degraded; if no complete engine is left, the corpus
// takes its place. It is an error only if nothing is.
func (s *search) retrieve() error {
	lists := s.plan.lists
	s.lists = make([]ranked, len(lists))
	took, errs := make([]time.Duration, len(lists)), make([]error, len(lists))
	early := s.plan.Profile.Order == "rerank" && s.breakers.vector.server()
	var wg sync.WaitGroup
	for i, l := range lists {
		wg.Go(func() {
			start := time.Now()
			hits, err := s.retrievers[l.Retriever].Retrieve(s.retrieving, s.plan, s.plan.Filter, l.depth)
			s.lists[i], errs[i], took[i] = ranked{l.List, hits}, err, time.Since(start)
			switch {
			case l.Retriever == "dense":
				s.near.learn(hits)
			case early:
				s.scoreEarly(hits)
			}
		})
	}
	wg.Wait()
	answered, whole := false, false // by any engine, by one that has everything
	for i, err := range errs {
		engine := engineOf[lists[i].Retriever]
		s.timings["retrieve/"+lists[i].Retriever] = took[i]
		if err != nil {
			s.without(engine)
			continue
		}
		answered, whole = true, whole || s.complete(engine)
	}
	switch {
	case whole:
	case s.breakers.servers():
		return s.retrieveFromCorpus()
	case !answered:
		return fmt.Errorf("%w: %w", ErrUnavailable, errors.Join(errs...))
	}
	return nil
}
