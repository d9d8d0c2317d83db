package retrieval

import (
	"context"
	"fmt"
	"slices"
)

// Status implements Searcher.
func (e *Engine) Status(context.Context) Status {
	lag, progress := e.follower.Lag()
	records, passages := e.follower.Corpus().Size()
	return Status{Ready: e.follower.Ready(), Progress: progress, Records: records, Passages: passages, Lag: lag,
		Model: e.embedder.Model(), Down: e.down()}
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

// available reports whether an engine takes part in searches and holds
// everything: whether its lists can stand in for another's.
func (e *Engine) available(engine string) bool {
	b := e.breakers.keyword
	if engine == vectorEngine {
		b = e.breakers.vector
	}
	if b.down() != nil {
		return false
	}
	for _, h := range e.follower.Health() {
		if h.Name == engine && !h.Complete {
			return false
		}
	}
	return true
}

// incomplete returns the engines that took no part, and those asked that are
// still being filled or fail to take changes.
func (s *search) incomplete() []string {
	for _, h := range s.follower.Health() {
		asked := slices.ContainsFunc(s.plan.lists, func(l list) bool { return engineOf[l.Retriever] == h.Name })
		if behind := !h.Complete || h.Err != nil && h.Lag > 0; asked && behind {
			s.without(h.Name)
		}
	}
	return s.degraded
}
