package sqlite

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"almanac/catalog"
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

// TestNoTurnIsLost takes and gives turns at random, half of them with contexts
// that end at about the time the turn comes.
func TestNoTurnIsLost(t *testing.T) {
	const places = 3
	x := &turns{free: places}
	var reading, most, gone atomic.Int64
	var wg sync.WaitGroup
	for i := range 50 {
		wg.Go(func() {
			random := rand.New(rand.NewPCG(1, uint64(i)))
			for range 200 {
				ctx, cancel := began(t, random.IntN(100)), func() {}
				if random.IntN(2) == 0 {
					ctx, cancel = context.WithTimeout(ctx, time.Duration(random.IntN(300))*time.Microsecond)
				}
				if err := x.take(ctx); err != nil {
					gone.Add(1)
				} else {
					most.Store(max(most.Load(), reading.Add(1)))
					time.Sleep(time.Duration(random.IntN(20)) * time.Microsecond)
					reading.Add(-1)
					x.give()
				}
				cancel()
			}
		})
	}
	wg.Wait()
	if x.free != places || len(x.waiting) != 0 || most.Load() > places {
		t.Errorf("at the end %d are free, %d wait; %d read at once", x.free, len(x.waiting), most.Load())
	}
	t.Logf("%d of 10000 did not wait until their turn", gone.Load())
}
