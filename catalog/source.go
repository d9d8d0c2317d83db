package catalog

import "time"

// SourceState is the sync state of one source.
type SourceState struct {
	Name        string
	Kind        string // connector kind: snapshot, proposals, forum, …
	LastRun     time.Time
	LastSuccess time.Time
	Cursor      string
	Error       string // of the last run; empty when it succeeded
	Skipped     int    // bad items that the last run reported and skipped
	Freshness   time.Duration
	// Foreign: it has yielded records that another source owned, and may own them
	// when that is dropped. Apply sets it, and clears it with the cursor.
	Foreign bool
}

// Stale reports whether the source's data is older than its freshness
// threshold. A source without a threshold is never stale, one with a threshold
// that never succeeded is.
func (s SourceState) Stale(now time.Time) bool {
	return s.Freshness > 0 && now.Sub(s.LastSuccess) > s.Freshness
}
