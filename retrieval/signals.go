package retrieval

import (
	"context"
	"fmt"

	"almanac/retrieval/rerank"
)

// Signal is a candidate's signals, as training reads them.
type Signal struct {
	Record int64
	Raw    rerank.Vector // as computed
	Z      rerank.Vector // normalised over the query's candidates
}

// Signals returns the class of a query and every candidate's signals, best
// first: what Search orders before it groups.
func (e *Engine) Signals(ctx context.Context, r Request) (class string, signals []Signal, err error) {
	if !e.follower.Ready() {
		return "", nil, ErrNotReady
	}
	prof, err := e.profile(r.Profile)
	if err != nil {
		return "", nil, err
	}
	p, err := e.plan(ctx, r, prof)
	if err != nil {
		return "", nil, err
	}
	lists, degraded, err := e.retrieve(ctx, p)
	if err != nil {
		return "", nil, err
	}
	candidates := e.candidates(p, lists)
	if degraded = e.rerank(ctx, p, candidates, degraded); len(degraded) > 0 {
		return "", nil, fmt.Errorf("retrieval: signals are incomplete without %v", degraded)
	}
	for _, c := range aboveFloor(candidates, prof.Floor) {
		signals = append(signals, Signal{c.Record, c.features, c.z})
	}
	return string(p.Query.Class), signals, nil
}
