package kb

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"almanac/catalog"
)

// Newest returns the newest state of a series and when it was captured; nil if
// there is none.
func Newest[T any](ctx context.Context, b Base, series string) (state *T, at time.Time, err error) {
	all, err := b.Catalog.Snapshots(ctx, series, 1)
	if err != nil || len(all) == 0 {
		return nil, at, err
	}
	one, err := StateOf[T](all[0])
	return &one, all[0].CapturedAt.UTC(), err
}

// StateOf reads a snapshot.
func StateOf[T any](s catalog.Snapshot) (state T, err error) {
	if err = json.Unmarshal(s.Data, &state); err != nil {
		err = fmt.Errorf("snapshot of %s at %s: %w", s.Series, s.CapturedAt, err)
	}
	return state, err
}
