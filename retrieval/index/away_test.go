package index

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"almanac/retrieval/keyword"
)

// awayKeyword is a keyword engine on a server that cannot be used: every call is
// answered by a function.
type awayKeyword struct {
	keyword.Engine
	answer func(ctx context.Context) error
}

func (e awayKeyword) Checkpoint(ctx context.Context) (int64, error) { return 0, e.answer(ctx) }
func (e awayKeyword) Flush(context.Context) error                   { return nil }

// beginAnew returns a follower of what another has indexed, with an engine that cannot be used.
func beginAnew(t *testing.T, log *slog.Logger, answer func(ctx context.Context) error) *Follower {
	t.Helper()
	before := fixture(t, Config{Log: log}, "rotate")
	if _, err := before.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	cfg := before.cfg
	cfg.Poll, cfg.Keyword, cfg.KeywordServer = 100*time.Millisecond, awayKeyword{answer: answer}, true
	f := New(cfg)
	if err := f.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	run(t, f)
	return f
}

// TestASilentServerHoldsUpAStartForMoments: where there was an index before, who waits
// for the next one does not wait for the server any longer.
func TestASilentServerHoldsUpAStartForMoments(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := beginAnew(t, nil, func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() })
		head, err := f.cfg.Store.LastChange(t.Context())
		begun := time.Now()
		if err == nil {
			err = f.Wait(t.Context(), head)
		}
		if took := time.Since(begun); err != nil || took == 0 || took > 3*time.Second {
			t.Errorf("waited %v by the clock of the bubble: %v", took, err)
		}
	})
}

// TestAServerThatStaysAwayIsLoggedOnce tries it for minutes.
func TestAServerThatStaysAwayIsLoggedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log strings.Builder
		tries := 0
		beginAnew(t, slog.New(slog.NewTextHandler(&log, nil)), func(context.Context) error {
			tries++
			return errors.New("connection refused")
		})
		time.Sleep(5 * time.Minute)
		synctest.Wait()
		if n := strings.Count(log.String(), "connection refused"); tries < 20 || n != 1 {
			t.Errorf("after %d tries the log says, %d times\n%s", tries, n, &log)
		}
	})
}
