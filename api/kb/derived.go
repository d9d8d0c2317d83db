package kb

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"almanac/catalog"
)

// memo caches values computed from the catalog, one per key.
type memo struct {
	flight singleflight.Group
	values sync.Map // string → derived
}

type derived struct {
	position int64 // of the change log
	at       time.Time
	value    any
}

// Derived returns a value that compute derives from the catalog, and when it was
// computed: once for each position of the change log, and again after maxAge
// (0: never, negative: always) if the value depends on the time. Concurrent
// calls share one computation. Callers must not modify the value.
func Derived[T any](
	ctx context.Context, b Base, key string, maxAge time.Duration, compute func(context.Context) (T, error),
) (value T, at time.Time, err error) {
	position, err := b.Catalog.LastChange(ctx)
	if err != nil {
		return value, at, err
	}
	fresh := func(d derived) bool {
		return d.position == position && (maxAge == 0 || b.Now().Sub(d.at) < maxAge)
	}
	if known, ok := b.memo.values.Load(key); ok && fresh(known.(derived)) {
		d := known.(derived)
		return d.value.(T), d.at, nil
	}
	// The computation is not cancelled with a caller: others may wait for it.
	results := b.memo.flight.DoChan(fmt.Sprint(key, " ", position), func() (any, error) {
		d := derived{position: position, at: b.Now().UTC()}
		var err error
		if d.value, err = compute(context.WithoutCancel(ctx)); err == nil {
			b.memo.values.Store(key, d)
		}
		return d, err
	})
	select {
	case <-ctx.Done():
		return value, at, ctx.Err()
	case r := <-results:
		if r.Err != nil {
			return value, at, r.Err
		}
		d := r.Val.(derived)
		return d.value.(T), d.at, nil
	}
}

// DerivedFrom is Derived for a value that follows from the records of a query.
func DerivedFrom[T any](
	ctx context.Context, b Base, key string, maxAge time.Duration, q catalog.ListQuery,
	compute func([]catalog.Record) T,
) (T, time.Time, error) {
	return Derived(ctx, b, key, maxAge, func(ctx context.Context) (T, error) {
		records, _, err := b.Catalog.List(ctx, q)
		return compute(records), err
	})
}

// Counts groups the live records, as the catalog does, and must not be modified.
func (b Base) Counts(ctx context.Context) ([]catalog.Count, error) {
	counts, _, err := Derived(ctx, b, "counts", 0, b.Catalog.Counts)
	return counts, err
}

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
