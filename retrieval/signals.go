package retrieval

import (
	"context"
	"fmt"

	"almanac/retrieval/dedup"
	"almanac/retrieval/rerank"
)

// Signal is a candidate's signals, as training reads them.
type Signal struct {
	Record int64
	Raw    rerank.Vector // as computed
	Z      rerank.Vector // normalised over the query's candidates
	// Copies are the indexes of the signals whose records are near-identical to
	// this one; the one with the greatest Preference is shown.
	Copies     []int
	Preference int
}

// Signals returns the class of a query and every candidate's signals, best
// first: what Search orders before it groups.
func (e *Engine) Signals(ctx context.Context, r Request) (class string, signals []Signal, err error) {
	if !e.follower.Ready() {
		return "", nil, ErrNotReady
	}
	set := e.relevance.Load()
	prof, err := set.profile(r.Profile)
	if err != nil {
		return "", nil, err
	}
	p, err := e.plan(r, set, prof)
	if err != nil {
		return "", nil, err
	}
	retrieving, scoring, cancel := e.limit(ctx)
	defer cancel()
	lists, degraded, err := e.retrieve(retrieving, p)
	if err != nil {
		return "", nil, err
	}
	candidates := e.candidates(p, lists)
	in, degraded := e.gather(scoring, p, candidates, degraded)
	if len(degraded) > 0 {
		return "", nil, fmt.Errorf("retrieval: signals are incomplete without %v", degraded)
	}
	e.rerank(p, candidates, in)
	candidates = aboveFloor(candidates, prof.Floor)
	for i, c := range candidates {
		s := Signal{Record: c.Record, Raw: c.features, Z: c.z}
		for j, other := range candidates {
			if prof.Collapse > 0 && j != i &&
				dedup.Similarity(c.document.Signature(), other.document.Signature()) >= prof.Collapse {
				s.Copies = append(s.Copies, j)
			}
			if e.prefer(c, other) {
				s.Preference++
			}
		}
		signals = append(signals, s)
	}
	return string(p.Query.Class), signals, nil
}
