package sqlstore

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"almanac/catalog"
	"almanac/testing/crowd"
)

// began is the context of a request that began some seconds into the test.
func began(t *testing.T, second int) context.Context {
	return catalog.WithStart(t.Context(), time.Date(2000, 1, 1, 0, 0, second, 0, time.UTC))
}

func TestReadsOfTheOldestRequestAreNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := &turns{free: 1}
		if err := x.take(began(t, 0)); err != nil {
			t.Fatal(err)
		}
		var mu sync.Mutex
		var order []string
		queue := func(ctx context.Context, name string) {
			go func() {
				if err := x.take(ctx); err != nil {
					name += ": " + err.Error()
				} else {
					defer x.give()
				}
				mu.Lock()
				defer mu.Unlock()
				order = append(order, name)
			}()
			synctest.Wait()
		}
		cancelled, cancel := context.WithCancel(began(t, 2))
		queue(t.Context(), "of no request") // the clock of a bubble begins at second 0
		queue(began(t, 7), "newest")
		queue(cancelled, "gone")
		queue(began(t, -5), "oldest")
		queue(began(t, 3), "newer")
		cancel()
		synctest.Wait()
		x.give()
		synctest.Wait()
		want := []string{"gone: context canceled", "oldest", "of no request", "newer", "newest"}
		if !slices.Equal(order, want) {
			t.Errorf("%q, want %q", order, want)
		}
		if x.free != 1 || len(x.waiting) != 0 {
			t.Errorf("at the end %d are free, %d wait", x.free, len(x.waiting))
		}
	})
}

// TestATurnOfOneWhoLeftIsPassedOn admits a read in the moment in which its context ends.
func TestATurnOfOneWhoLeftIsPassedOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := &turns{free: 1}
		if err := x.take(t.Context()); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(began(t, 1))
		var gone, next error
		go func() { gone = x.take(ctx) }()
		synctest.Wait()
		go func() { next = x.take(began(t, 2)) }()
		synctest.Wait()
		x.mu.Lock()
		cancel()
		x.next() // that of the one who is leaving
		x.mu.Unlock()
		synctest.Wait()
		if !errors.Is(gone, context.Canceled) || next != nil || len(x.waiting) != 0 {
			t.Errorf("who left: %v; the next: %v; %d wait", gone, next, len(x.waiting))
		}
		x.give()
		if x.free != 1 {
			t.Errorf("at the end %d are free", x.free)
		}
	})
}

// TestNoTurnIsLost takes and gives turns at random, half of them with contexts
// that end at about the time the turn comes.
func TestNoTurnIsLost(t *testing.T) {
	const places = 3
	x := &turns{free: places}
	var reading crowd.Crowd
	var gone atomic.Int64
	var wg sync.WaitGroup
	for i := range 50 {
		wg.Go(func() {
			random := rand.New(rand.NewPCG(1, uint64(i)))
			for range 200 {
				ctx, cancel := context.WithCancel(began(t, random.IntN(100)))
				if random.IntN(2) == 0 {
					after := random.IntN(300)
					wg.Go(func() {
						others(after)
						cancel()
					})
				}
				if err := x.take(ctx); err != nil {
					gone.Add(1)
				} else {
					reading.Enter()
					others(random.IntN(20))
					reading.Leave()
					x.give()
				}
				cancel()
			}
		})
	}
	wg.Wait()
	if x.free != places || len(x.waiting) != 0 || reading.Most() > places {
		t.Errorf("at the end %d are free, %d wait; %d read at once", x.free, len(x.waiting), reading.Most())
	}
	t.Logf("%d of 10000 did not wait until their turn", gone.Load())
}

// others lets other goroutines run some times.
func others(times int) {
	for range times {
		runtime.Gosched()
	}
}
