package gather_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"almanac/retrieval/gather"
)

var errRefused = errors.New("connection refused")

func TestBreaker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := gather.NewBreaker(slog.New(slog.DiscardHandler))
		ctx := t.Context()
		fail := func() error { return errRefused }
		work := func() error { return nil }
		var asked int
		count := func() error { asked++; return nil }

		for range 2 {
			_ = b.Call(ctx, fail)
		}
		if err := b.Call(ctx, work); err != nil || b.Down() != nil {
			t.Fatalf("two failures opened it: %v, %v", err, b.Down())
		}
		gone, leave := context.WithCancel(ctx)
		leave()
		for range 10 {
			_ = b.Call(gone, func() error { return gone.Err() })
		}
		if b.Down() != nil {
			t.Fatal("clients that went away opened it")
		}
		for range 3 {
			if err := b.Call(ctx, fail); !errors.Is(err, errRefused) {
				t.Fatalf("%v, want what the engine said", err)
			}
		}
		if err := b.Call(ctx, count); !errors.Is(err, gather.ErrLeftAlone) || asked > 0 {
			t.Errorf("after three failures: %v, called %d times", err, asked)
		}
		if !errors.Is(b.Down(), errRefused) {
			t.Errorf("down: %v", b.Down())
		}
		time.Sleep(gather.BreakerOpen + time.Millisecond)
		if err := b.Call(ctx, fail); !errors.Is(err, errRefused) {
			t.Errorf("the probe: %v", err)
		}
		if err := b.Call(ctx, count); !errors.Is(err, gather.ErrLeftAlone) || asked > 0 {
			t.Errorf("after a failed probe: %v, called %d times", err, asked)
		}
		time.Sleep(gather.BreakerOpen + time.Millisecond)
		// While one search tries it, others continue without.
		_ = b.Call(ctx, func() error {
			if err := b.Call(ctx, count); !errors.Is(err, gather.ErrLeftAlone) {
				t.Errorf("a second probe during the first: %v", err)
			}
			return nil
		})
		if err := b.Call(ctx, count); err != nil || asked != 1 || b.Down() != nil {
			t.Errorf("after a good probe: %v, called %d times, down %v", err, asked, b.Down())
		}

		// The calls of one search are one use, and of an engine that failed a search
		// asks no more.
		for range 2 {
			if err := b.Call(ctx, fail, count, count); !errors.Is(err, errRefused) {
				t.Fatal(err)
			}
		}
		if err := b.Call(ctx, count, count); err != nil || asked != 3 || b.Down() != nil {
			t.Errorf("two failing searches opened it: %v, called %d times, down %v", err, asked, b.Down())
		}
		for range 3 {
			_ = b.Call(ctx, fail, fail)
		}
		time.Sleep(gather.BreakerOpen + time.Millisecond)
		if err := b.Call(ctx, work, count, count); err != nil || asked != 5 || b.Down() != nil {
			t.Errorf("a probe of three calls: %v, called %d times, down %v", err, asked, b.Down())
		}

		late, cancel := context.WithTimeoutCause(ctx, time.Second, gather.ErrLate)
		defer cancel()
		err := b.Call(late, func() error { <-late.Done(); return late.Err() })
		if !errors.Is(err, gather.ErrLate) {
			t.Errorf("a late answer: %v", err)
		}
	})
}

// TestAnEngineThatStaysAwayIsLoggedOnce tries it again and again.
func TestAnEngineThatStaysAwayIsLoggedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log strings.Builder
		b := gather.NewBreaker(slog.New(slog.NewTextHandler(&log, nil)))
		tries := 0
		for range 20 {
			_ = b.Call(t.Context(), func() error { tries++; return errRefused })
			time.Sleep(gather.BreakerOpen + time.Millisecond)
		}
		if said := log.String(); tries != 20 || strings.Count(said, "\n") != 1 ||
			!strings.Contains(said, errRefused.Error()) {
			t.Errorf("after %d tries the log says\n%s", tries, said)
		}
		for range 2 {
			_ = b.Call(t.Context(), func() error { return nil })
		}
		if n := strings.Count(log.String(), "\n"); n != 2 {
			t.Errorf("it answers again, and the log has %d lines\n%s", n, &log)
		}
	})
}
