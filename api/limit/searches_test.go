package limit_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"almanac/api/limit"
	"almanac/retrieval"
)

// slow takes a second for a search and counts those at once, by query.
type slow struct {
	mu   sync.Mutex
	now  map[string]int
	most map[string]int
}

func (s *slow) Search(ctx context.Context, r retrieval.Request) (retrieval.Response, error) {
	s.count(r.Query, 1)
	defer s.count(r.Query, -1)
	time.Sleep(time.Second)
	return retrieval.Response{Query: r.Query}, ctx.Err()
}

func (s *slow) Status(context.Context) retrieval.Status { return retrieval.Status{Ready: true} }

func (s *slow) count(query string, n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, of := range []string{query, "all"} {
		s.now[of] += n
		s.most[of] = max(s.most[of], s.now[of])
	}
}

// counts returns how many searches run, and how many ran at once at most.
func (s *slow) counts() (now, most int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now["all"], s.most["all"]
}

func newSlow() *slow { return &slow{now: map[string]int{}, most: map[string]int{}} }

var limits = limit.Searches{Running: 4, PerClient: 2, Waiting: 20, Patience: 2500 * time.Millisecond}

func search(s *limit.Searcher, client string) error {
	_, err := s.Search(limit.WithClient(context.Background(), client), retrieval.Request{Query: client})
	return err
}

func TestAFloodDelaysItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engine := newSlow()
		s := limit.NewSearcher(engine, limits)
		var refused atomic.Int64
		var wg sync.WaitGroup
		for range 20 {
			wg.Go(func() {
				if errors.Is(search(s, "flood"), limit.ErrBusy) {
					refused.Add(1)
				}
			})
		}
		synctest.Wait()
		for i := range 5 { // one after the other: each finds a place at once
			start := time.Now()
			if err := search(s, "other"); err != nil || time.Since(start) > time.Second {
				t.Errorf("search %d of another client: %v after %v", i, err, time.Since(start))
			}
		}
		wg.Wait()
		// Two run at once, in seconds 0, 1 and 2; ten may wait, of which four got a place in time.
		if n := refused.Load(); n != 14 {
			t.Errorf("%d of 20 were refused, want 14", n)
		}
		if engine.most["flood"] != 2 || engine.most["all"] != 3 {
			t.Errorf("at once: %v", engine.most)
		}
	})
}

func TestPlacesAreBoundedAndReturned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engine := newSlow()
		s := limit.NewSearcher(engine, limits)
		for round := range 3 {
			var wg sync.WaitGroup
			for i := range 8 {
				wg.Go(func() {
					if err := search(s, fmt.Sprint(i)); err != nil {
						t.Errorf("round %d: %v", round, err)
					}
				})
			}
			wg.Wait()
		}
		if _, most := engine.counts(); most != 4 {
			t.Errorf("%d at once, want 4", most)
		}
		var wg sync.WaitGroup
		for range 4 { // without a client every place may be used
			wg.Go(func() { _ = search(s, "") })
		}
		synctest.Wait()
		if n, _ := engine.counts(); n != 4 {
			t.Errorf("%d at once without a client, want 4", n)
		}
		wg.Wait()
	})
}

func TestWhoLeavesGivesUpItsPlaceInTheQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := limit.NewSearcher(newSlow(), limit.Searches{Running: 1, PerClient: 1, Waiting: 10, Patience: time.Minute})
		var first sync.WaitGroup
		first.Go(func() { _ = search(s, "first") })
		synctest.Wait()
		ctx, leave := context.WithCancel(limit.WithClient(t.Context(), "second"))
		left := make(chan error)
		go func() {
			_, err := s.Search(ctx, retrieval.Request{})
			left <- err
		}()
		synctest.Wait()
		leave()
		if err := <-left; !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
		start := time.Now()
		if err := search(s, "third"); err != nil || time.Since(start) != 2*time.Second {
			t.Errorf("%v after %v: the place of the one who left was kept", err, time.Since(start))
		}
	})
}

// TestAnExpensiveSearchTakesAllThatItsClientHas lets others pass meanwhile.
func TestAnExpensiveSearchTakesAllThatItsClientHas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engine := newSlow()
		s := limit.NewSearcher(engine, limits)
		var wg sync.WaitGroup
		for _, query := range []string{`"a phrase"`, strings.Repeat("long ", 50), "short"} {
			wg.Go(func() {
				ctx := limit.WithClient(context.Background(), "one")
				if _, err := s.Search(ctx, retrieval.Request{Query: query}); err != nil {
					t.Errorf("%s: %v", query, err)
				}
			})
		}
		synctest.Wait()
		start := time.Now()
		if err := search(s, "other"); err != nil || time.Since(start) > time.Second {
			t.Errorf("another client: %v after %v", err, time.Since(start))
		}
		wg.Wait()
		if engine.most["all"] != 2 {
			t.Errorf("%d at once, want one of each client", engine.most["all"])
		}
	})
}
