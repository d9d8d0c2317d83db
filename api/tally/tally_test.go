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
	reporters  map[string]int    // clients of violations
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
		s.searches[key] = catalog.SearchCount{Query: c.Query, N: sum.N + c.N, Zero: sum.Zero + c.Zero, LastAt: c.LastAt,
			Clients: max(sum.Clients, c.Clients), Visitors: max(sum.Visitors, c.Visitors)}
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
		key := v.Directive + " " + v.Blocked
		s.violations[key] += v.N
		s.reporters[key] = max(s.reporters[key], v.Clients)
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
	s := &shelf{searches: map[string]catalog.SearchCount{}, violations: map[string]int{},
		reporters: map[string]int{}, clicks: map[string][2]int{}}
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
		counts.Violation(t.Context(), "img-src", "https://tide.example/x.png")
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
			counts.Violation(t.Context(), "img-src", fmt.Sprint(i))
		}
		counts.Search(t.Context(), "tide 7", tally.Outcome{Zero: true}) // is there already
		if err := counts.Close(); err != nil {
			t.Fatal(err)
		}
		if len(s.searches) != 2_000 || len(s.violations) != catalog.DayViolations+1 || s.searches["2000-01-01 tide 7"].N != 2 {
			t.Errorf("%d queries, %d violations, %+v", len(s.searches), len(s.violations),
				s.searches["2000-01-01 tide 7"])
		}
	})
}

// TestADayIsBounded holds that a day has so many queries, places and addresses, a
// fifth of them from one client, and that those that are there count on.
func TestADayIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		counts, s := newTally()
		flush := func() {
			t.Helper()
			if err := counts.Flush(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		from := func(client int) context.Context { return tally.WithClient(t.Context(), fmt.Sprint("client ", client)) }
		for client := range 7 {
			for i := range 1_100 {
				if i%30 == 0 {
					time.Sleep(time.Minute) // slower than what is sampled
					flush()
				}
				counts.Search(from(client), fmt.Sprintf("tide %d of %d", i, client), tally.Outcome{})
				counts.Violation(from(client), "img-src", fmt.Sprintf("https://%d-%d.example", i, client))
				for range 2 {
					counts.Shown(from(client), fmt.Sprintf("tide %d", client), []int64{int64(2*i + 1), int64(2*i + 2)}, 0)
				}
			}
		}
		counts.Search(from(9), "tide 3 of 4", tally.Outcome{})
		counts.Search(from(9), "something new", tally.Outcome{})
		flush()
		if len(s.searches) != catalog.DaySearches || s.searches["2000-01-01 tide 3 of 4"].N != 2 {
			t.Errorf("%d queries, %+v", len(s.searches), s.searches["2000-01-01 tide 3 of 4"])
		}
		for query, want := range map[string]int{
			"tide 999 of 0": 1, "tide 999 of 4": 1, // the last of a client's part
			"tide 1000 of 0": 0, "tide 0 of 5": 0, "something new": 0, // beyond it, and beyond the day
		} {
			if got := s.searches["2000-01-01 "+query].N; got != want {
				t.Errorf("%q is counted %d times, want %d", query, got, want)
			}
		}
		if len(s.clicks) != catalog.DayClicks || s.clicks["tide 4 2000@2"][0] != 2 {
			t.Errorf("%d places, %v", len(s.clicks), s.clicks["tide 4 2000@2"])
		}
		if len(s.violations) != catalog.DayViolations+1 || s.violations["img-src https://19-4.example"] != 1 ||
			s.violations["img-src https://20-0.example"] != 0 || s.violations["img-src other"] != 7*1_100-100 {
			t.Errorf("%d addresses, %d others", len(s.violations), s.violations["img-src other"])
		}
		time.Sleep(24 * time.Hour)
		counts.Search(from(0), "another day", tally.Outcome{})
		flush()
		if s.searches["2000-01-02 another day"].N != 1 {
			t.Error("the next day has no room")
		}
	})
}

// TestClientsAreToldApart holds that a query has as many clients as searched for it
// on a day, those on pages among them, to as many as matter, and nobody's searches
// have none.
func TestClientsAreToldApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		counts, s := newTally()
		search := func(query string, clients ...int) {
			for _, c := range clients {
				ctx := t.Context()
				if c > 0 {
					ctx = tally.WithClient(ctx, fmt.Sprint("client ", c))
				}
				if c%2 == 0 {
					ctx = tally.OnPage(ctx)
				}
				counts.Search(ctx, query, tally.Outcome{})
			}
		}
		search("Ebb", 1, 1, 1, 2)
		search("ebb ", 2, 3)
		search("flow", 1, 2, 3, 4, 5, 6, 7, 8)
		search("own", 0, 0)
		if err := counts.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		search("ebb", 1, 4) // the day goes on
		time.Sleep(24 * time.Hour)
		search("ebb", 1)
		if err := counts.Close(); err != nil {
			t.Fatal(err)
		}
		for key, want := range map[string][3]int{
			"2000-01-01 ebb": {8, 4, 2}, "2000-01-01 flow": {8, 5, 4}, "2000-01-01 own": {2, 0, 0}, "2000-01-02 ebb": {1, 1, 0},
		} {
			if c := s.searches[key]; [3]int{c.N, c.Clients, c.Visitors} != want {
				t.Errorf("%s: %+v, want %v", key, c, want)
			}
		}
	})
}

// TestClientsOfViolations holds that what is blocked has clients too.
func TestClientsOfViolations(t *testing.T) {
	counts, s := newTally()
	for _, client := range []string{"a", "b", "b"} {
		counts.Violation(tally.WithClient(t.Context(), client), "img-src", "https://cdn.example")
	}
	if err := counts.Close(); err != nil {
		t.Fatal(err)
	}
	if s.reporters["img-src https://cdn.example"] != 2 {
		t.Errorf("%v", s.reporters)
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
