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
	s, err := e.begin(ctx, r)
	if err != nil {
		return "", nil, err
	}
	defer s.end()
	candidates, err := s.found()
	if err != nil {
		return "", nil, err
	}
	in := s.gather(candidates)
	if len(s.degraded) > 0 {
		return "", nil, fmt.Errorf("retrieval: signals are incomplete without %v", s.degraded)
	}
	s.rerank(candidates, in)
	prof := s.plan.Profile
	candidates = aboveFloor(candidates, prof.Floor)
	for i, c := range candidates {
		x := Signal{Record: c.Record, Raw: c.scored.Features, Z: *c.z}
		for j, other := range candidates {
			if prof.Collapse > 0 && j != i &&
				dedup.Same(c.document.Signature(), other.document.Signature(), prof.Collapse) {
				x.Copies = append(x.Copies, j)
			}
			if s.prefer(c, other) {
				x.Preference++
			}
		}
		signals = append(signals, x)
	}
	return string(s.plan.Query.Class), signals, nil
}
