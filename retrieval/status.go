package retrieval

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/sony/gobreaker/v2"

	"almanac/retrieval/index"
	"almanac/retrieval/ranking"
)

// Down is an engine that does not answer, or holds only a part.
type Down struct {
	Engine string // keyword, vector, embedder, reranker
	Reason string // for operators: it may name hosts
	ToCome int64  // changes, if it answers and is being filled
	Lacks  string // for anybody: what is wrong, if it answers all the same
}

// Public is the reason for anybody.
func (d Down) Public() string {
	if d.ToCome > 0 {
		return fmt.Sprintf("is being filled; %d changes are to come", d.ToCome)
	}
	return cmp.Or(d.Lacks, "does not answer")
}

// open reports for every engine on a server whether its breaker is open, so that it is
// not called.
func (e *Engine) open() map[string]bool {
	out := map[string]bool{}
	for _, b := range e.breakers {
		if b.server() {
			out[b.name] = b.two.State() != gobreaker.StateClosed
		}
	}
	return out
}

// down names the engines that do not answer, take no changes or are incomplete.
func (e *Engine) down() []Down {
	var out []Down
	for _, b := range e.breakers {
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

// has reports whether there is a retriever.
func (e *Engine) has(retriever string) bool { return e.retrievers[retriever] != nil }

// usable reports whether the engine of a retriever takes part in searches and
// holds everything: whether its list can stand in for another's.
func (e *Engine) usable(retriever string) bool {
	if !e.has(retriever) {
		return false
	}
	engine := ranking.EngineOf[retriever]
	return e.breakers[slices.Index(engineNames[:], engine)].down() == nil && e.complete(engine)
}

// complete reports whether an engine holds everything.
func (e *Engine) complete(engine string) bool {
	return !slices.ContainsFunc(e.follower.Health(),
		func(h index.Health) bool { return h.Name == engine && !h.Complete })
}

// leaveOut adds an engine to those that took no part.
func (r *run) leaveOut(engine string) {
	if !slices.Contains(r.without, engine) {
		r.without = append(r.without, engine)
	}
}

// degraded returns the engines that took no part, those asked that are still being
// filled or fail to take changes, and those for which another's list stood in: also if
// they answer again by now, the list brings results into another order.
func (r *run) degraded() []string {
	for _, l := range r.Plan.Lists {
		if l.StandIn {
			r.leaveOut(ranking.EngineOf[l.Unless])
		}
	}
	for _, h := range r.engine.follower.Health() {
		asked := slices.ContainsFunc(r.Plan.Lists,
			func(l planList) bool { return ranking.EngineOf[l.Retriever] == h.Name })
		if behind := !h.Complete || h.Err != nil && h.Lag > 0; asked && behind {
			r.leaveOut(h.Name)
		}
	}
	return r.without
}
