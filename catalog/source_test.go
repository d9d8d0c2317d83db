package catalog_test

import (
	"testing"
	"time"

	"almanac/catalog"
)

func TestStale(t *testing.T) {
	now := time.Date(2030, 1, 2, 0, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		state catalog.SourceState
		want  bool
	}{
		"within the threshold": {catalog.SourceState{Freshness: time.Hour, LastSuccess: now.Add(-time.Hour)}, false},
		"beyond it": {catalog.SourceState{Freshness: time.Hour, LastSuccess: now.Add(-time.Hour - 1)},
			true},
		"without a threshold":    {catalog.SourceState{LastSuccess: now.AddDate(-1, 0, 0)}, false},
		"never succeeded":        {catalog.SourceState{Freshness: time.Hour, LastRun: now}, true},
		"the clock was set back": {catalog.SourceState{Freshness: time.Hour, LastSuccess: now.Add(time.Hour)}, false},
		"nothing is known of it": {catalog.SourceState{}, false},
	} {
		if got := c.state.Stale(now); got != c.want {
			t.Errorf("%s: stale is %v", name, got)
		}
	}
}
