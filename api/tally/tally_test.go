package tally_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"almanac/api/tally"
	"almanac/catalog"
)

// shelf is a store in memory that can fail.
type shelf struct {
	mu         sync.Mutex
	broken     bool
	writes     int
	searches   map[string]catalog.SearchCount
	violations map[string]int
	clicks     map[string][2]int // shown and clicked
}

func (s *shelf) CountSearches(_ context.Context, counts []catalog.SearchCount) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.writes++; s.broken {
		return errors.New("the disk is full")
	}
	for _, c := range counts {
		key := c.LastAt.Format(time.DateOnly) + " " + c.Query
		sum := s.searches[key]
		s.searches[key] = catalog.SearchCount{Query: c.Query, N: sum.N + c.N, Zero: sum.Zero + c.Zero, LastAt: c.LastAt}
	}
	return nil
}

func (s *shelf) CountClicks(_ context.Context, counts []catalog.ClickCount) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.broken {
		return errors.New("the disk is full")
	}
	for _, c := range counts {
		key := fmt.Sprintf("%s %d@%d", c.Query, c.Record, c.Position)
		sum := s.clicks[key]
		s.clicks[key] = [2]int{sum[0] + c.Shown, sum[1] + c.Clicked}
	}
	return nil
}

func (s *shelf) CountViolations(_ context.Context, counts []catalog.Violation) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.broken {
		return errors.New("the disk is full")
	}
	for _, v := range counts {
		s.violations[v.Directive+" "+v.Blocked] += v.N
	}
	return nil
}

// written is how often searches were written.
func (s *shelf) written() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.writes
}

func (s *shelf) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var rows []string
	for key, c := range s.searches {
		rows = append(rows, fmt.Sprintf("%s %d/%d", key, c.N, c.Zero))
	}
	slices.SortFunc(rows, cmp.Compare)
	return strings.Join(rows, ", ")
}

func newTally() (*tally.Tally, *shelf) {
	s := &shelf{searches: map[string]catalog.SearchCount{}, violations: map[string]int{}, clicks: map[string][2]int{}}
	return tally.New(s, time.Now, slog.New(slog.DiscardHandler)), s
}

// TestSearchesAreWrittenSoon holds that counts of a day and query are one row,
// written five seconds after the first of them.
func TestSearchesAreWrittenSoon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // begins at 2000-01-01
		counts, s := newTally()
		counts.Search(t.Context(), "Tide  Table", tally.Outcome{})
		counts.Search(t.Context(), "tide table", tally.Outcome{Zero: true})
		counts.Search(t.Context(), "ask alice@example.org", tally.Outcome{})
		time.Sleep(4 * time.Second)
		counts.Search(t.Context(), "ebb", tally.Outcome{Zero: true})
		if s.written() != 0 {
			t.Errorf("written after 4 s: %s", s)
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if got, want := s.String(), "2000-01-01 ebb 1/1, 2000-01-01 tide table 2/1"; got != want || s.written() != 1 {
			t.Errorf("%s in %d writes, want %s", got, s.written(), want)
		}
		time.Sleep(23*time.Hour + 59*time.Minute + 51*time.Second)
		counts.Search(t.Context(), "ebb", tally.Outcome{}) // three seconds before midnight
		time.Sleep(4 * time.Second)
		counts.Search(t.Context(), "ebb", tally.Outcome{})
		if err := counts.Close(); err != nil {
			t.Fatal(err)
		}
		want := "2000-01-01 ebb 2/1, 2000-01-01 tide table 2/1, 2000-01-02 ebb 1/0"
		if got := s.String(); got != want {
			t.Errorf("after close: %s, want %s", got, want)
		}
	})
}

func TestWhatCannotBeWrittenIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		counts, s := newTally()
		s.broken = true
		counts.Search(t.Context(), "ebb", tally.Outcome{Zero: true})
		counts.Violation("img-src", "https://tide.example/x.png")
		time.Sleep(6 * time.Second)
		synctest.Wait()
		counts.Search(t.Context(), "EBB", tally.Outcome{})
		s.mu.Lock()
		s.broken = false
		s.mu.Unlock()
		time.Sleep(5 * time.Second)
		synctest.Wait()
		if got := s.String(); got != "2000-01-01 ebb 2/1" || s.violations["img-src https://tide.example/x.png"] != 1 {
			t.Errorf("%s, %v", got, s.violations)
		}
	})
}

// TestAFloodIsSampled holds that one client is counted exactly up to 120
// searches in a minute and every tenth time beyond, others not less for it.
func TestAFloodIsSampled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		counts, s := newTally()
		flood, other := tally.WithClient(t.Context(), "198.51.100.1"), tally.WithClient(t.Context(), "198.51.100.2")
		for range 1_120 {
			counts.Search(flood, "buy shells", tally.Outcome{})
		}
		for range 120 {
			counts.Search(other, "ebb", tally.Outcome{})
		}
		time.Sleep(time.Minute)
		for range 120 {
			counts.Search(flood, "flow", tally.Outcome{})
		}
		for range 1_000 {
			counts.Search(t.Context(), "own", tally.Outcome{})
		}
		if err := counts.Close(); err != nil {
			t.Fatal(err)
		}
		want := "2000-01-01 buy shells 220/0, 2000-01-01 ebb 120/0, 2000-01-01 flow 120/0, 2000-01-01 own 1000/0"
		if got := s.String(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	})
}

// TestMemoryIsBounded holds that a store that never answers does not fill the
// memory with queries.
func TestMemoryIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		counts, s := newTally()
		for i := range 3_000 {
			counts.Search(tally.WithClient(t.Context(), fmt.Sprint(i)), fmt.Sprintf("tide %d", i), tally.Outcome{Zero: true})
			counts.Violation("img-src", fmt.Sprint(i))
		}
		counts.Search(t.Context(), "tide 7", tally.Outcome{Zero: true}) // is there already
		if err := counts.Close(); err != nil {
			t.Fatal(err)
		}
		if len(s.searches) != 2_000 || len(s.violations) != 2_000 || s.searches["2000-01-01 tide 7"].N != 2 {
			t.Errorf("%d queries, %d violations, %+v", len(s.searches), len(s.violations),
				s.searches["2000-01-01 tide 7"])
		}
	})
}

func TestNoTallyCountsNothing(t *testing.T) {
	var none *tally.Tally
	none.Search(t.Context(), "ebb", tally.Outcome{Zero: true})
	none.Violation("img-src", "data")
	if none.Flush(t.Context()) != nil || none.Close() != nil {
		t.Error("an error")
	}
}

// TestShown holds that places add up, and that what is private is not kept.
func TestShown(t *testing.T) {
	counts, s := newTally()
	counts.Shown(t.Context(), "Tide table", []int64{7, 8}, 2)
	counts.Shown(t.Context(), "tide  table", []int64{7, 9}, 0)
	counts.Shown(t.Context(), "ask alice@example.org", []int64{7}, 1)
	s.broken = true
	if counts.Flush(t.Context()) == nil {
		t.Error("a failed write is no error")
	}
	s.broken = false
	if err := counts.Close(); err != nil {
		t.Fatal(err)
	}
	want := map[string][2]int{"tide table 7@1": {2, 0}, "tide table 8@2": {1, 1}, "tide table 9@2": {1, 0}}
	if !maps.Equal(s.clicks, want) {
		t.Errorf("%v, want %v", s.clicks, want)
	}
	var none *tally.Tally
	none.Shown(t.Context(), "ebb", []int64{1}, 1)
}
