package catalog

import "time"

// EventQuery selects events; zero fields select everything.
type EventQuery struct {
	Ref   Ref // both parts, or only Kind
	Field string
	Since time.Time
	Until time.Time
	Limit int
}

// Batch is one transaction of a sync.
type Batch struct {
	Source  string
	Entries []Entry
	// Events are replaced per reference: all events of a Ref that this source
	// wrote before are replaced by those in the batch.
	Events []Event
	// Delete tombstones records of this source before the entries are written: other
	// sources that yield them lose their cursors, so that the next takes them. Records
	// of other sources only lose the links, aliases and facts that this source added.
	// Other ids are ignored.
	Delete []int64
	// Over names sources that this one comes before: records of theirs that the
	// batch has become this source's, and their links, aliases and facts stay as
	// additions.
	Over []string
	// Cursor, when not nil, becomes the source's cursor; "" is that of a source
	// that was never read.
	Cursor *string
	// Restore says that the entries come from another catalog's Dump: new
	// records keep their ids and FirstSeenAt. ErrConflict if another record
	// already has such an id.
	Restore bool
}

// Result counts what a batch did.
type Result struct {
	Created, Updated, Unchanged, Foreign, Deleted int
}
