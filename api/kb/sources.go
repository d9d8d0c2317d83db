package kb

import (
	"context"
	"slices"
	"time"

	"almanac/catalog"
)

// SourceStates returns the states of the network's sources, in the order of its file.
// One of which no run has begun has nothing but its name.
func (b Base) SourceStates(ctx context.Context) ([]catalog.SourceState, error) {
	known, err := b.Catalog.Sources(ctx)
	states := make([]catalog.SourceState, len(b.Network.Sources))
	for i, src := range b.Network.Sources {
		states[i].Name = src.Name
		if at := slices.IndexFunc(known, func(st catalog.SourceState) bool { return st.Name == src.Name }); at >= 0 {
			states[i] = known[at]
		}
	}
	return states, err
}

// Freshness is how fresh is what sources feed: their oldest last success and largest
// age.
type Freshness struct {
	LastSynced       *time.Time `json:"last_synced" format:"date-time" doc:"last success; null before the first"`
	LastRun          *time.Time `json:"last_run"`
	AgeSeconds       *int64     `json:"age_seconds"`
	FreshnessSeconds *int64     `json:"freshness_threshold_seconds" doc:"older is stale; null: no threshold"`
	Stale            bool       `json:"stale"`
	Error            *string    `json:"error" doc:"of the last run, if it failed"`
}

// Add adds the state of one source.
func (f *Freshness) Add(st catalog.SourceState, now time.Time) {
	if st.Error != "" {
		f.Error = new("the last run failed; the operator's log says why") // the message may name files and hosts
	}
	f.LastRun = earlier(f.LastRun, st.LastRun)
	if st.LastSuccess.IsZero() {
		return
	}
	f.LastSynced = earlier(f.LastSynced, st.LastSuccess)
	age := int64(max(0, now.Sub(st.LastSuccess)) / time.Second)
	if f.AgeSeconds == nil || age > *f.AgeSeconds {
		f.AgeSeconds = &age
	}
	limit := int64(st.Freshness / time.Second)
	if limit > 0 && (f.FreshnessSeconds == nil || limit < *f.FreshnessSeconds) {
		f.FreshnessSeconds = &limit
	}
	f.Stale = f.Stale || st.Stale(now)
}

// earlier returns the earlier of two times in UTC; nil and zero are unknown.
func earlier(known *time.Time, t time.Time) *time.Time {
	if t = t.UTC(); t.IsZero() || known != nil && !t.Before(*known) {
		return known
	}
	return &t
}
