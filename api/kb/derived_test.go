package kb_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"almanac/api/kb"
	"almanac/catalog"
	"almanac/catalog/sqlite"
	"almanac/catalog/sqlstore"
	"almanac/testing/catalogfile"
)

// empty opens an empty catalog.
func empty(t *testing.T) *sqlstore.Store {
	t.Helper()
	store, err := sqlite.Open(t.Context(), sqlite.Config{Path: catalogfile.Empty(t), Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	return store
}

func TestDerivedIsComputedOncePerChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := empty(t)
		b := kb.Base{Catalog: store, Now: time.Now}.Prepared()
		var runs atomic.Int64
		ask := func(maxAge time.Duration) int64 {
			t.Helper()
			n, _, err := kb.Derived(t.Context(), b, "x", maxAge, func(context.Context) (int64, error) {
				time.Sleep(time.Second)
				return runs.Add(1), nil
			})
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
		var wg sync.WaitGroup
		for range 10 {
			wg.Go(func() { ask(0) })
		}
		wg.Wait()
		if n := ask(0); n != 1 {
			t.Errorf("ten at once and one later: computed %d times", n)
		}
		if _, err := store.Apply(t.Context(), catalog.Batch{Source: "docs", Entries: []catalog.Entry{{Record: catalog.Record{
			Kind: catalog.KindDoc, Key: "a"}}}}); err != nil {
			t.Fatal(err)
		}
		if n := ask(0); n != 2 {
			t.Errorf("after a change: computed %d times", n)
		}
		time.Sleep(time.Hour)
		if n := ask(0); n != 2 {
			t.Errorf("an hour later: computed %d times", n)
		}
		if n := ask(time.Minute); n != 3 {
			t.Errorf("an hour later, where a minute is too old: computed %d times", n)
		}
	})
}

func TestDerivedFailsAndIsTriedAgain(t *testing.T) {
	b := kb.Base{Catalog: empty(t), Now: time.Now}.Prepared()
	burst := errors.New("burst")
	for _, want := range []error{burst, nil} {
		if _, _, err := kb.Derived(t.Context(), b, "x", 0,
			func(context.Context) (int, error) { return 7, want }); !errors.Is(err, want) {
			t.Errorf("%v, want %v", err, want)
		}
	}
}

// TestACallerMayLeave holds that the others still get what it began.
func TestACallerMayLeave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := kb.Base{Catalog: empty(t), Now: time.Now}.Prepared()
		ctx, cancel := context.WithCancel(t.Context())
		slow := func(ctx context.Context) (int, error) {
			time.Sleep(time.Second)
			return 7, ctx.Err()
		}
		go func() {
			if _, _, err := kb.Derived(ctx, b, "x", 0, slow); !errors.Is(err, context.Canceled) {
				t.Errorf("who left: %v", err)
			}
		}()
		synctest.Wait()
		cancel()
		if n, _, err := kb.Derived(t.Context(), b, "x", 0, slow); n != 7 || err != nil {
			t.Errorf("who stayed: %d %v", n, err)
		}
	})
}
