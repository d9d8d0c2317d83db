package stack

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// TestADrainWaitsForItsUsers holds that nothing is closed under a search, however long
// that takes, and that none begins on what is about to be closed.
func TestADrainWaitsForItsUsers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var u users
		for range 2 {
			if !u.enter() {
				t.Fatal("what is open cannot be used")
			}
		}
		drained := false
		go func() {
			if err := u.drain(t.Context()); err != nil {
				t.Error(err)
			}
			drained = true
		}()
		synctest.Wait()
		if u.enter() {
			t.Error("what is about to be closed is used")
		}
		u.leave()
		synctest.Wait()
		if drained {
			t.Error("it is closed under its last user")
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := u.drain(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("a drain that is given up: %v", err)
		}
		u.leave()
		synctest.Wait()
		if !drained {
			t.Error("it is not closed although nobody uses it")
		}
		if err := u.drain(t.Context()); err != nil || u.enter() {
			t.Errorf("again: %v", err)
		}
	})
}

// TestQuietOutlastsTheGapsOfSearches holds that one who searches without a pause is not
// overtaken in the moments between, that work goes on when nobody searches, and that it is
// not held up for ever.
func TestQuietOutlastsTheGapsOfSearches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const calm, most = 5 * time.Millisecond, time.Second
		var u users
		if began := time.Now(); !u.quiet(t.Context(), calm, most) || time.Since(began) != 0 {
			t.Error("it waits where nobody has searched")
		}
		search := func(times int) {
			for range times {
				u.enter()
				time.Sleep(2 * time.Millisecond)
				u.leave()
				time.Sleep(time.Millisecond)
			}
		}
		began := time.Now()
		go search(100)
		synctest.Wait()
		if !u.quiet(t.Context(), calm, most) {
			t.Error("it gave up before the searches ended")
		}
		if took := time.Since(began); took != 299*time.Millisecond+calm {
			t.Errorf("it went on after %s", took)
		}
		began = time.Now()
		go search(1000)
		synctest.Wait()
		if u.quiet(t.Context(), calm, most) {
			t.Error("searches without end ended")
		}
		if took := time.Since(began); took != most {
			t.Errorf("it went on after %s", took)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		u.quiet(ctx, calm, most)
		time.Sleep(3 * time.Second) // the searches end
	})
}
