package meta

import (
	"slices"
	"time"

	"almanac/catalog"
)

// Freshness is how fresh a kind of content is.
type Freshness struct {
	LastSynced       *time.Time `json:"last_synced" format:"date-time" doc:"last success; null before the first"`
	LastRun          *time.Time `json:"last_run"`
	AgeSeconds       *int64     `json:"age_seconds"`
	FreshnessSeconds *int64     `json:"freshness_threshold_seconds" doc:"older is stale; null: no threshold"`
	Stale            bool       `json:"stale"`
}

// feed is one kind of content with the sources that feed it. If there are
// several, it has their oldest last success and largest age.
type feed struct {
	Kind    catalog.KindInfo
	Count   int      // of records
	Sources []string // by name
	Failed  bool     // the last run of one of them
	Freshness
}

// feeds returns the kinds that have records, in the catalog's order. Derived
// records come from release notes: they are as fresh as the releases.
func feeds(counts []catalog.Count, states []catalog.SourceState, now time.Time) []feed {
	var out []feed
	for _, info := range catalog.Kinds {
		f := feed{Kind: info}
		f.Sources, f.Count = feeding(counts, info.Kind)
		origins := slices.Clone(f.Sources)
		if slices.Contains(origins, catalog.DerivedSource) {
			releases, _ := feeding(counts, catalog.KindRelease)
			origins = append(origins, releases...)
		}
		for _, st := range states {
			if slices.Contains(origins, st.Name) {
				f.add(st, now)
			}
		}
		if f.Count > 0 {
			out = append(out, f)
		}
	}
	return out
}

// feeding returns the sources of a kind, and how many records it has.
func feeding(counts []catalog.Count, kind catalog.Kind) (names []string, n int) {
	for _, c := range counts {
		if c.Kind != kind {
			continue
		}
		n += c.N
		if !slices.Contains(names, c.Source) {
			names = append(names, c.Source)
		}
	}
	return names, n
}

// add adds the state of one source.
func (f *feed) add(st catalog.SourceState, now time.Time) {
	f.Failed = f.Failed || st.Error != ""
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
