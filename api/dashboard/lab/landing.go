package lab

import (
	"context"

	"almanac/catalog"
	"almanac/retrieval/workbench"
)

// landing is what the lab offers before a query is typed.
type landing struct {
	Worst []workbench.BoardRow // of the case
	Some  []workbench.BoardRow // of a case that was not measured
	Zero  []catalog.SearchCount
}

// offered is how many of each the lab offers.
const offered = 8

// landing finds what to begin with.
func (h handler) landing(ctx context.Context, c catalog.Case) (l landing, err error) {
	if c.ID != 0 {
		board, err := h.Bench.Board(ctx, c)
		if err != nil {
			return l, err
		}
		l.Worst = board.Worst()
		l.Worst = l.Worst[:min(offered, len(l.Worst))]
		l.Some = board.Rows[:min(offered, len(board.Rows))]
	}
	l.Zero, _, err = h.Store.Searches(ctx, catalog.SearchQuery{Order: catalog.MostZero, Limit: offered,
		Since: h.Now().AddDate(0, 0, -7)})
	return l, err
}
