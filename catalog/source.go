package catalog

import (
	"strings"
	"time"
)

// SourceState is the sync state of one source.
type SourceState struct {
	Name        string
	Kind        string // connector kind: snapshot, proposals, forum, …
	LastRun     time.Time
	LastSuccess time.Time
	Cursor      string
	Error       string // of the last run; empty when it succeeded
	// Skipped and Remark are of the last run that looked at the source, not of runs
	// that found it where it was: how many items it left out; which and why, or that
	// it has no records at all, in words for the operator.
	Skipped int
	Remark  string
	// Settings is a digest of how the last good run read it; "": unknown.
	Settings  string
	Freshness time.Duration
	// Foreign: it has yielded records that another source owned, and may own them
	// when that is dropped. Apply sets it, and clears it with the cursor.
	Foreign bool
}

// NoRecords begins the Remark of a source that has no record.
const NoRecords = "no records"

// Unread reports whether nothing is read of a source that has something to read.
func (s SourceState) Unread() bool { return s.Skipped > 0 && strings.HasPrefix(s.Remark, NoRecords) }

// How a source stands, in words for people and programs.
const (
	SourceCurrent = "current"
	SourceFailed  = "failed"       // its last run did
	SourceUnread  = "not_read_yet" // no run of it has ended
	SourceStale   = "stale"
	SourceEmpty   = "empty" // nothing is read of it, though it has something to read
)

// Standing says how the source stands: SourceCurrent, or the first that is wrong with it.
func (s SourceState) Standing(now time.Time) string {
	switch {
	case s.Error != "":
		return SourceFailed
	case s.LastRun.IsZero():
		return SourceUnread
	case s.Stale(now):
		return SourceStale
	case s.Unread():
		return SourceEmpty
	}
	return SourceCurrent
}

// Stale reports whether the source's data is older than its freshness
// threshold. A source without a threshold is never stale, one with a threshold
// that never succeeded is.
func (s SourceState) Stale(now time.Time) bool {
	return s.Freshness > 0 && now.Sub(s.LastSuccess) > s.Freshness
}
