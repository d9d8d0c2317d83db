package operations

import (
	"context"
	"time"

	"almanac/api/kb"
)

// Captured is the part of a snapshot's row that says when it was captured.
type Captured struct {
	CapturedAt *time.Time `json:"captured_at" doc:"null if there is no snapshot"`
	Hint       string     `json:"hint,omitempty" doc:"if there is no snapshot: why"`
}

// latest returns the newest snapshot of a series as its row; if there is none,
// the row of the zero state.
func latest[T, R any](
	series string, row func(c Captured, state T) R,
) func(context.Context, kb.Base, struct{}) (R, error) {
	return func(ctx context.Context, b kb.Base, _ struct{}) (R, error) {
		state, at, err := kb.Newest[T](ctx, b, series)
		if state == nil {
			return row(Captured{Hint: "there is no snapshot of the " + series +
				": this network has no source for it, or none has run yet"}, *new(T)), err
		}
		return row(Captured{CapturedAt: &at}, *state), err
	}
}

// History is a series in an answer.
type History[R any] struct {
	Items []R        `json:"items" doc:"newest first"`
	Total int        `json:"total"`
	Limit int        `json:"limit"`
	AsOf  *time.Time `json:"as_of" doc:"time of the newest; null if there is none"`
}

// history returns the newest snapshots of a series, each as its row.
func history[T, R any](
	ctx context.Context, b kb.Base, series string, limit int, row func(c Captured, state T) R,
) (History[R], error) {
	all, err := b.Catalog.Snapshots(ctx, series, limit)
	out := History[R]{Items: make([]R, len(all)), Total: len(all), Limit: limit}
	for i, s := range all {
		state, bad := kb.StateOf[T](s)
		if bad != nil {
			return History[R]{}, bad
		}
		at := kb.Time(s.CapturedAt)
		if i == 0 {
			out.AsOf = at
		}
		out.Items[i] = row(Captured{CapturedAt: at}, state)
	}
	return out, err
}
