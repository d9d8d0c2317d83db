package stack

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
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
