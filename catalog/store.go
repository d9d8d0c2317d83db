package catalog

import (
	"context"
	"time"
)

// Store is the catalog. It is implemented on SQLite (package catalog/sqlite)
// and checked by the suite in testing/catalogtest, which runs against any
// implementation given its constructor.
//
// Reads see only live records unless they say otherwise and are safe for
// concurrent use; writes are serialised by the implementation. Every write is
// one transaction: after a crash it is either complete or absent.
type Store interface {
	Reader
	Writer
	IndexStore
	JobStore
	RelevanceStore
	Close() error
}

// Reader is the read side of the store, for operations, connectors and
// derivations.
type Reader interface {
	// Ping says whether reads are answered now: why not, if they are not. It takes two
	// seconds at most, however often it is called. ErrUnreachable, ErrDamaged.
	Ping(ctx context.Context) error
	// Get finds a record by natural key, then by alias. ErrNotFound.
	Get(ctx context.Context, ref Ref) (Record, error)
	// Head returns the same without its body, which can be large.
	Head(ctx context.Context, ref Ref) (Record, error)
	// ByID finds a live record. ErrNotFound.
	ByID(ctx context.Context, id int64) (Record, error)
	// ByPath finds records read from a source path, oldest id first.
	ByPath(ctx context.Context, path string) ([]Record, error)
	// Handled returns the live records that have one of some handles, see Record.Handles,
	// without their bodies, oldest id first.
	Handled(ctx context.Context, handles []string) ([]Record, error)
	// Records returns the live records among ids, in the order of ids.
	Records(ctx context.Context, ids []int64) ([]Record, error)
	// Heads returns the same without their bodies.
	Heads(ctx context.Context, ids []int64) ([]Record, error)
	// HeadsOf returns the live records that references name, by key or alias, without
	// their bodies, by the reference as it was given. One that names nothing is absent.
	HeadsOf(ctx context.Context, refs []Ref) (map[Ref]Record, error)
	// List returns one page of the matching records and their number.
	List(ctx context.Context, q ListQuery) (records []Record, total int, err error)
	// Counts groups the live records.
	Counts(ctx context.Context) ([]Count, error)
	// ForeignCounts returns to how many live records that another owns each source adds
	// something; a source that adds nothing is left out.
	ForeignCounts(ctx context.Context) (map[string]int, error)
	// TagCounts returns how many live records of a kind have each tag that
	// begins with prefix, most first: Tag("label", …) with "label:".
	TagCounts(ctx context.Context, kind Kind, prefix string) ([]TagCount, error)
	// LastChange returns the newest sequence number of the change log, 0 if the
	// log is empty. Anything computed from records is valid while it does not
	// change.
	LastChange(ctx context.Context) (int64, error)

	// LinksFrom returns the links of a record, in stored order.
	LinksFrom(ctx context.Context, record int64, relations ...Relation) ([]Link, error)
	// LinksFromAll returns the links of several records, by record id, each
	// record's in stored order.
	LinksFromAll(ctx context.Context, records []int64, relations ...Relation) ([]Link, error)
	// LinksTo returns the links of live records that point to exactly this
	// reference, by record id. ListQuery.LinksTo resolves aliases.
	LinksTo(ctx context.Context, ref Ref, relations ...Relation) ([]Link, error)
	// LinksByRelation returns every link of live records with the relation.
	LinksByRelation(ctx context.Context, relation Relation) ([]Link, error)
	// Aliases returns the other names of a record.
	Aliases(ctx context.Context, record int64) ([]string, error)
	// Events returns matching events, newest first, then by reference; events
	// of one reference at the same time are in reverse order of writing. Of
	// several sources that report the changes of a field, one counts: a source
	// that gives facts of the record, else its owner, else the first by name.
	Events(ctx context.Context, q EventQuery) ([]Event, error)
	// VotesOn returns the votes on a record ordered by time, then voter.
	VotesOn(ctx context.Context, record int64) ([]Vote, error)
	// VotesBy returns a voter's votes on live records of a kind, newest first;
	// an empty voter means all voters.
	VotesBy(ctx context.Context, kind Kind, voter string) ([]Vote, error)
	// Snapshots returns the newest snapshots of a series, newest first.
	Snapshots(ctx context.Context, series string, limit int) ([]Snapshot, error)
	// Sources returns the sync state of every source ever synced, by name.
	Sources(ctx context.Context) ([]SourceState, error)
	// Searches returns searched queries in an order, and the total number of
	// matching queries.
	Searches(ctx context.Context, q SearchQuery) (list []SearchCount, total int, err error)
	// SearchDays returns how much was searched for on each day since one, oldest first;
	// days without a search are left out.
	SearchDays(ctx context.Context, since time.Time) ([]SearchDay, error)
	// Clicks returns what was shown and chosen since a day, by query, record and
	// position; of the queries if some are named.
	Clicks(ctx context.Context, since time.Time, queries ...string) ([]ClickCount, error)
	// Violations returns what the content security policy blocked since a day,
	// most first.
	Violations(ctx context.Context, since time.Time) ([]Violation, error)
	// Dump calls fn with every live record, by id, all from one state of the
	// catalog: first the entry of the source that owns it, then, with the
	// record's reference alone, the additions of each other source. Applied to
	// an empty catalog by source, owners before additions, the entries recreate
	// the same records. Dump stops at an error of fn and returns it.
	Dump(ctx context.Context, fn func(source string, e Entry) error) error
}

// Writer is the write side of the store, used by ingest.
type Writer interface {
	// Apply writes a batch in one transaction: records, their dependents
	// (aliases, links, votes, events), tombstones and the cursor. A record
	// whose content hash is unchanged is not written or logged. A record owned
	// by another source keeps its content and only gains the links, aliases and
	// facts (Result.Foreign), unless the batch takes it over (Batch.Over).
	Apply(ctx context.Context, b Batch) (Result, error)
	// LiveKeys returns the references of all live records that a source owns,
	// yields too, or adds links, aliases or facts to.
	LiveKeys(ctx context.Context, source string) (map[Ref]int64, error)
	// SetSource stores a source's sync state except what only Apply sets: its
	// cursor and Foreign.
	SetSource(ctx context.Context, s SourceState) error
	// DropSource removes a source's sync state and its events. Its records and
	// additions are deleted before, by Apply.
	DropSource(ctx context.Context, source string) error
	// PutSnapshot stores one snapshot, replacing one of the same series and time.
	PutSnapshot(ctx context.Context, s Snapshot) error
	// PruneSnapshots removes all but the newest snapshots of a series.
	PruneSnapshots(ctx context.Context, series string, keep int) error
	// Meta and SetMeta hold facts about the data directory itself: its network,
	// the sample's anchor day. A missing key returns "".
	Meta(ctx context.Context, key string) (string, error)
	SetMeta(ctx context.Context, key, value string) error
	// CountSearches, CountClicks and CountViolations add to the daily counts, to
	// the bounds of a day, and remove days that are no longer kept.
	CountSearches(ctx context.Context, counts []SearchCount) error
	CountClicks(ctx context.Context, counts []ClickCount) error
	CountViolations(ctx context.Context, counts []Violation) error
}

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
