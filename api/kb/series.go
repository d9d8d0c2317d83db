package kb

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
)

// Captured is the part of a snapshot's row that says when it was captured.
type Captured struct {
	CapturedAt *time.Time `json:"captured_at" doc:"null if there is no snapshot"`
	Hint       string     `json:"hint,omitempty" doc:"if there is no snapshot: why"`
}

// Latest returns the newest snapshot of a series as its row; if there is none,
// the row of the zero state.
func Latest[T, R any](
	series string, row func(c Captured, state T) R,
) func(context.Context, Base, struct{}) (R, error) {
	return func(ctx context.Context, b Base, _ struct{}) (R, error) {
		all, err := snapshots(ctx, b, series, 1, row)
		if err != nil || len(all) == 0 {
			var none T
			return row(Captured{Hint: "there is no snapshot of the " + series +
				": this network has no source for it, or none has run yet"}, none), err
		}
		return all[0], nil
	}
}

// Newest returns the newest state of a series and when it was captured; nil if
// there is none.
func Newest[T any](ctx context.Context, b Base, series string) (state *T, at time.Time, err error) {
	all, err := snapshots(ctx, b, series, 1, func(c Captured, s T) *T {
		at = *c.CapturedAt
		return &s
	})
	if err != nil || len(all) == 0 {
		return nil, at, err
	}
	return all[0], at, nil
}

// Limited are arguments that bound a series.
type Limited interface{ Most() int }

// History is a series in an answer.
type History[R any] struct {
	Items []R        `json:"items" doc:"newest first"`
	Total int        `json:"total"`
	Limit int        `json:"limit"`
	AsOf  *time.Time `json:"as_of" doc:"time of the newest; null if there is none"`
}

// HistoryOf returns the newest snapshots of a series, each as its row.
func HistoryOf[In Limited, T, R any](
	series string, row func(c Captured, state T) R,
) func(context.Context, Base, In) (History[R], error) {
	return func(ctx context.Context, b Base, in In) (History[R], error) {
		var newest time.Time
		items, err := snapshots(ctx, b, series, in.Most(), func(c Captured, state T) R {
			if c.CapturedAt.After(newest) {
				newest = *c.CapturedAt
			}
			return row(c, state)
		})
		return History[R]{items, len(items), in.Most(), Time(newest)}, err
	}
}

func snapshots[T, R any](
	ctx context.Context, b Base, series string, limit int, row func(c Captured, state T) R,
) ([]R, error) {
	all, err := b.Catalog.Snapshots(ctx, series, limit)
	if err != nil {
		return nil, err
	}
	out := make([]R, len(all))
	for i, s := range all {
		var state T
		if err := json.Unmarshal(s.Data, &state); err != nil {
			return nil, fmt.Errorf("snapshot of %s at %s: %w", series, s.CapturedAt, err)
		}
		out[i] = row(Captured{CapturedAt: Time(s.CapturedAt)}, state)
	}
	return out, nil
}
