package retrieval

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

var errRefused = errors.New("connection refused")

// call calls through a breaker as a search does, for each of the calls. The
// breaker's open time and errLate are those of every search.
func (b *breaker) call(ctx context.Context, calls ...func() error) (err error) {
	t := b.use()
	defer t.end()
	for _, call := range calls {
		_, failed := ask(ctx, t, func(context.Context) (struct{}, error) { return struct{}{}, call() })
		err = cmp.Or(err, failed)
	}
	return err
}

func TestBreaker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBreaker("engine", true, slog.New(slog.DiscardHandler))
		ctx := t.Context()
		fail := func() error { return errRefused }
		work := func() error { return nil }
		var asked int
		count := func() error { asked++; return nil }

		for range 2 {
			_ = b.call(ctx, fail)
		}
		if err := b.call(ctx, work); err != nil || b.down() != nil {
			t.Fatalf("two failures opened it: %v, %v", err, b.down())
		}
		gone, leave := context.WithCancel(ctx)
		leave()
		for range 10 {
			_ = b.call(gone, func() error { return gone.Err() })
		}
		if b.down() != nil {
			t.Fatal("clients that went away opened it")
		}
		for range 3 {
			if err := b.call(ctx, fail); !errors.Is(err, errRefused) {
				t.Fatalf("%v, want what the engine said", err)
			}
		}
		if err := b.call(ctx, count); !errors.Is(err, errLeftAlone) || asked > 0 {
			t.Errorf("after three failures: %v, called %d times", err, asked)
		}
		if !errors.Is(b.down(), errRefused) {
			t.Errorf("down: %v", b.down())
		}
		time.Sleep(breakerOpen + time.Millisecond)
		if err := b.call(ctx, fail); !errors.Is(err, errRefused) {
			t.Errorf("the probe: %v", err)
		}
		if err := b.call(ctx, count); !errors.Is(err, errLeftAlone) || asked > 0 {
			t.Errorf("after a failed probe: %v, called %d times", err, asked)
		}
		time.Sleep(breakerOpen + time.Millisecond)
		// While one search tries it, others continue without.
		_ = b.call(ctx, func() error {
			if err := b.call(ctx, count); !errors.Is(err, errLeftAlone) {
				t.Errorf("a second probe during the first: %v", err)
			}
			return nil
		})
		if err := b.call(ctx, count); err != nil || asked != 1 || b.down() != nil {
			t.Errorf("after a good probe: %v, called %d times, down %v", err, asked, b.down())
		}

		// The calls of one search are one use, and of an engine that failed a search
		// asks no more.
		for range 2 {
			if err := b.call(ctx, fail, count, count); !errors.Is(err, errRefused) {
				t.Fatal(err)
			}
		}
		if err := b.call(ctx, count, count); err != nil || asked != 3 || b.down() != nil {
			t.Errorf("two failing searches opened it: %v, called %d times, down %v", err, asked, b.down())
		}
		for range 3 {
			_ = b.call(ctx, fail, fail)
		}
		time.Sleep(breakerOpen + time.Millisecond)
		if err := b.call(ctx, work, count, count); err != nil || asked != 5 || b.down() != nil {
			t.Errorf("a probe of three calls: %v, called %d times, down %v", err, asked, b.down())
		}

		late, cancel := context.WithTimeoutCause(ctx, time.Second, errLate)
		defer cancel()
		err := b.call(late, func() error { <-late.Done(); return late.Err() })
		if !errors.Is(err, errLate) {
			t.Errorf("a late answer: %v", err)
		}
	})
}

// TestAnEngineThatStaysAwayIsLoggedOnce tries it again and again.
func TestAnEngineThatStaysAwayIsLoggedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log strings.Builder
		b := newBreaker("engine", true, slog.New(slog.NewTextHandler(&log, nil)))
		tries := 0
		for range 20 {
			_ = b.call(t.Context(), func() error { tries++; return errRefused })
			time.Sleep(breakerOpen + time.Millisecond)
		}
		if said := log.String(); tries != 20 || strings.Count(said, "\n") != 1 ||
			!strings.Contains(said, errRefused.Error()) {
			t.Errorf("after %d tries the log says\n%s", tries, said)
		}
		for range 2 {
			_ = b.call(t.Context(), func() error { return nil })
		}
		if n := strings.Count(log.String(), "\n"); n != 2 {
			t.Errorf("it answers again, and the log has %d lines\n%s", n, &log)
		}
	})
}
