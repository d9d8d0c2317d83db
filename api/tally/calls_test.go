package tally_test

import (
	"maps"
	"testing"
	"time"

	"almanac/api/tally"
)

// TestCallsAreKeptForAWeek counts calls by the hour while the clock goes on.
func TestCallsAreKeptForAWeek(t *testing.T) {
	now := time.Date(2031, 3, 1, 10, 59, 0, 0, time.UTC)
	c := tally.NewCalls(func() time.Time { return now })
	began := now
	sum := func() map[string]int {
		all := map[string]int{}
		for _, h := range c.Hours() {
			for name, n := range h.Calls {
				all[name] += n
			}
		}
		return all
	}
	c.Count("search")
	c.Count("search")
	now = now.Add(2 * time.Minute)
	c.Count("get_doc")
	hours := c.Hours()
	if n := len(hours); n != tally.KeptHours || !hours[n-1].At.Equal(time.Date(2031, 3, 1, 11, 0, 0, 0, time.UTC)) ||
		!maps.Equal(hours[n-1].Calls, map[string]int{"get_doc": 1}) ||
		!maps.Equal(hours[n-2].Calls, map[string]int{"search": 2}) {
		t.Errorf("%d hours, the last are %v", n, hours[n-2:])
	}
	now = began.Add((tally.KeptHours - 1) * time.Hour)
	if got := sum(); !maps.Equal(got, map[string]int{"search": 2, "get_doc": 1}) {
		t.Errorf("after all but an hour of a week: %v", got)
	}
	now = now.Add(time.Hour)
	c.Count("search")
	if got := sum(); !maps.Equal(got, map[string]int{"search": 1, "get_doc": 1}) || !c.Since().Equal(began) {
		t.Errorf("after a week: %v since %s", got, c.Since())
	}
	var none *tally.Calls
	none.Count("search")
}
