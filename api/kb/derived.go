package kb

import (
	"context"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"almanac/catalog"
)

// memo caches values computed from the catalog, one per key.
type memo struct {
	flight singleflight.Group
	mu     sync.Mutex
	values map[string]derived // guarded by mu
}

type derived struct {
	position int64 // of the change log
	at       time.Time
	value    any
}

func newMemo() *memo { return &memo{values: map[string]derived{}} }

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
	if d, ok := b.memo.get(key); ok && fresh(d) {
		return d.value.(T), d.at, nil
	}
	// The computation is not cancelled with a caller: others may wait for it.
	results := b.memo.flight.DoChan(fmt.Sprint(key, " ", position), func() (any, error) {
		d := derived{position: position, at: b.Now().UTC()}
		var err error
		if d.value, err = compute(context.WithoutCancel(ctx)); err == nil {
			b.memo.put(key, d)
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

// Counts groups the live records, as the catalog does, and must not be modified.
func (b Base) Counts(ctx context.Context) ([]catalog.Count, error) {
	counts, _, err := Derived(ctx, b, "counts", 0, b.Catalog.Counts)
	return counts, err
}

func (m *memo) get(key string) (derived, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	d, ok := m.values[key]
	return d, ok
}

// put keeps the newer of two values.
func (m *memo) put(key string, d derived) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if old, ok := m.values[key]; !ok || d.position >= old.position {
		m.values[key] = d
	}
}
