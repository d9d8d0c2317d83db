package kb

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"almanac/api/op"
)

// Snapshots returns the newest snapshots of a series, newest first, each as
// its row.
func Snapshots[T, R any](
	ctx context.Context, b Base, series string, limit int, row func(at time.Time, state T) R,
) ([]R, error) {
	snapshots, err := b.Catalog.Snapshots(ctx, series, limit)
	if err != nil {
		return nil, err
	}
	out := make([]R, len(snapshots))
	for i, s := range snapshots {
		var state T
		if err := json.Unmarshal(s.Data, &state); err != nil {
			return nil, fmt.Errorf("snapshot of %s at %s: %w", series, s.CapturedAt, err)
		}
		out[i] = row(s.CapturedAt.UTC(), state)
	}
	return out, nil
}

// Latest returns the newest snapshot of a series.
func Latest[T, R any](ctx context.Context, b Base, series string, row func(at time.Time, state T) R) (R, error) {
	all, err := Snapshots(ctx, b, series, 1, row)
	if err == nil && len(all) == 0 {
		err = op.Unavailable(retrySnapshot, "there is no snapshot yet: the %s series is empty", series)
	}
	if err != nil {
		var none R
		return none, err
	}
	return all[0], nil
}

// retrySnapshot is when to ask again for a series that is empty: sources of
// snapshots are read every few minutes.
const retrySnapshot = time.Minute

// History is a series in an answer.
type History[R any] struct {
	Items []R        `json:"items" doc:"newest first"`
	Total int        `json:"total"`
	Limit int        `json:"limit"`
	AsOf  *time.Time `json:"as_of" doc:"time of the newest; null if there is none"`
}

// HistoryOf answers a series.
func HistoryOf[T, R any](
	ctx context.Context, b Base, series string, limit int, row func(at time.Time, state T) R,
) (History[R], error) {
	var newest time.Time
	items, err := Snapshots(ctx, b, series, limit, func(at time.Time, state T) R {
		if at.After(newest) {
			newest = at
		}
		return row(at, state)
	})
	return History[R]{items, len(items), limit, Time(newest)}, err
}
