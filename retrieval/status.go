package retrieval

import (
	"context"
	"slices"

	"github.com/sony/gobreaker/v2"

	"almanac/retrieval/index"
)

// Status implements Searcher.
func (e *Engine) Status(context.Context) Status {
	lag, progress := e.follower.Lag()
	records, passages := e.follower.Corpus().Size()
	return Status{Ready: e.follower.Ready(), Progress: progress, Records: records,
		Passages: passages, Lag: lag,
		Model: e.embedder.Model(), Down: e.down(), Breakers: e.open()}
}

// open tells of every engine on a server whether it is left alone.
func (e *Engine) open() map[string]bool {
	out := map[string]bool{}
	for _, b := range e.breakers.all() {
		if b.two != nil && (b != e.breakers.reranker || e.cross != nil) {
			out[b.name] = b.two.State() != gobreaker.StateClosed
		}
	}
	return out
}

// down names the engines that do not answer, take no changes or are incomplete.
func (e *Engine) down() []Down {
	var out []Down
	for _, b := range e.breakers.all() {
		if err := b.down(); err != nil {
			out = append(out, Down{Engine: b.name, Reason: err.Error()})
		}
	}
	for _, h := range e.follower.Health() {
		if slices.ContainsFunc(out, func(d Down) bool { return d.Engine == h.Name }) {
			continue
		}
		switch {
		case h.Err != nil:
			out = append(out, Down{Engine: h.Name, Reason: h.Err.Error()})
		case !h.Complete:
			out = append(out, Down{Engine: h.Name, Reason: "it is being filled", ToCome: max(h.Lag, 1)})
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
	return b.down() == nil && e.complete(engine)
}

// complete reports whether an engine holds everything.
func (e *Engine) complete(engine string) bool {
	return !slices.ContainsFunc(e.follower.Health(),
		func(h index.Health) bool { return h.Name == engine && !h.Complete })
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
