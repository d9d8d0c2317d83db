package retrieval

import (
	"context"
	"fmt"

	"almanac/retrieval/dedup"
	"almanac/retrieval/gather"
	"almanac/retrieval/order"
	"almanac/retrieval/plan"
	"almanac/retrieval/rerank"
	"almanac/retrieval/trace"
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

// Signals returns the signals of every candidate of a query, best first: what Search orders before it groups.
func (e *Engine) Signals(ctx context.Context, r Request) (signals []Signal, err error) {
	t := trace.New(ctx, e.now)
	p, err := e.plan(r, t)
	if err != nil {
		return nil, err
	}
	p.Profile.Order = plan.Rerank // as it would be
	err = e.run(ctx, p, t, func(f *gather.Found, s *order.Scratch) error {
		if len(f.Missing()) > 0 {
			return fmt.Errorf("retrieval: signals are incomplete without %v", f.Missing())
		}
		list := order.Run(f, order.Scoring, t, s)
		for i, c := range list {
			x := Signal{Record: c.Record, Raw: c.Scored.Features, Z: *c.Z}
			for j, other := range list {
				if similar := p.Profile.Collapse; similar > 0 && j != i &&
					dedup.Same(c.Document.Signature(), other.Document.Signature(), similar) {
					x.Copies = append(x.Copies, j)
				}
				if order.Preferred(p, c, other) {
					x.Preference++
				}
			}
			signals = append(signals, x)
		}
		return nil
	})
	return signals, err
}
