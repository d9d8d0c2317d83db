package catalog

import (
	"context"
	"time"
)

// Store is the catalog. It is implemented on SQLite (package
// catalog/sqlite) and checked by the suite in catalog/catalogtest, which any
// further implementation joins with a constructor.
//
// Reads see only live records unless they say otherwise and are safe for
// concurrent use; writes are serialised by the implementation. Every write is
// one transaction: after a crash it is there whole or not at all.
type Store interface {
	Reader
	Writer
	IndexStore
	Close() error
}

// Reader answers what operations, connectors and derivations ask.
type Reader interface {
	// Get finds a record by natural key, then by alias. ErrNotFound.
	Get(ctx context.Context, ref Ref) (Record, error)
	// Head returns the same without its body, which can be large.
	Head(ctx context.Context, ref Ref) (Record, error)
	// ByID finds a live record. ErrNotFound.
	ByID(ctx context.Context, id int64) (Record, error)
	// ByPath finds records read from a source path, oldest id first.
	ByPath(ctx context.Context, path string) ([]Record, error)
	// Records returns the live records among ids, in the order of ids.
	Records(ctx context.Context, ids []int64) ([]Record, error)
	// Heads returns the same without their bodies.
	Heads(ctx context.Context, ids []int64) ([]Record, error)
	// List returns one page of the matching records and their number.
	List(ctx context.Context, q ListQuery) (records []Record, total int, err error)
	// Counts groups the live records.
	Counts(ctx context.Context) ([]Count, error)
	// TagCounts returns how many live records of a kind have each tag that
	// begins with prefix, most first: Tag("label", …) with "label:".
	TagCounts(ctx context.Context, kind Kind, prefix string) ([]TagCount, error)
	// LastChange returns the newest sequence number of the change log, 0 for
	// none. What was computed from records is current while it stays the same.
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
	// Events returns matching events, newest first, of equal times by
	// reference; those of one reference keep the reverse of the order they were
	// written in.
	Events(ctx context.Context, q EventQuery) ([]Event, error)
	// VotesOn returns the votes on a record ordered by time, then voter.
	VotesOn(ctx context.Context, record int64) ([]Vote, error)
	// VotesBy returns a voter's votes on live records of a kind, newest first;
	// those of every voter without one.
	VotesBy(ctx context.Context, kind Kind, voter string) ([]Vote, error)
	// Snapshots returns the newest snapshots of a series, newest first.
	Snapshots(ctx context.Context, series string, limit int) ([]Snapshot, error)
	// Sources returns the sync state of every source ever synced, by name.
	Sources(ctx context.Context) ([]SourceState, error)
	// Searches returns what was searched, most often first, and how many
	// queries match in all.
	Searches(ctx context.Context, q SearchQuery) (list []SearchCount, total int, err error)
	// Violations returns what the content security policy blocked since the
	// day of a time, by directive, most first, with up to top addresses each.
	Violations(ctx context.Context, since time.Time, top int) ([]DirectiveCount, error)
	// Dump calls fn with every live record as one state of the catalog, by id:
	// first the entry of the source that owns it, then, with the record's
	// reference alone, what each other source adds to it. Applied to an empty
	// catalog by source, owners before additions, the entries make the same
	// records. An error of fn ends it and is returned.
	Dump(ctx context.Context, fn func(source string, e Entry) error) error
}

// Writer is what ingest writes through.
type Writer interface {
	// Apply writes a batch in one transaction: records, what hangs on them,
	// tombstones and the cursor. A record whose content hash is unchanged
	// writes nothing and logs no change. A record that another source owns is
	// left as it is; its links and aliases are added (Result.Foreign).
	Apply(ctx context.Context, b Batch) (Result, error)
	// LiveKeys returns the references of all live records that a source owns
	// or adds links or aliases to.
	LiveKeys(ctx context.Context, source string) (map[Ref]int64, error)
	// SetSource stores a source's sync state except its cursor, which only
	// Apply moves.
	SetSource(ctx context.Context, s SourceState) error
	// PutSnapshot stores one snapshot, replacing one of the same series and time.
	PutSnapshot(ctx context.Context, s Snapshot) error
	// PruneSnapshots removes all but the newest snapshots of a series.
	PruneSnapshots(ctx context.Context, series string, keep int) error
	// Meta and SetMeta hold facts of the data directory itself: its network,
	// the sample's anchor day. A missing key reads as "".
	Meta(ctx context.Context, key string) (string, error)
	SetMeta(ctx context.Context, key, value string) error
	// CountSearches and CountViolations add to the counts of the days, and
	// remove those of days that are no longer kept.
	CountSearches(ctx context.Context, counts []SearchCount) error
	CountViolations(ctx context.Context, counts []Violation) error
	// Enqueue adds a request for whoever runs the scheduler; Requests returns
	// those not done, oldest first; FinishRequest marks one done.
	Enqueue(ctx context.Context, r Request) (int64, error)
	Requests(ctx context.Context) ([]Request, error)
	FinishRequest(ctx context.Context, id int64, failure string) error
}

// EventQuery selects events; zero fields select everything.
type EventQuery struct {
	Ref   Ref // both parts, or only Kind
	Field string
	Since time.Time
	Until time.Time
	Limit int
}

// Entry is a record with everything that hangs on it. On write, links,
// aliases and votes of the record are replaced as a whole by those given;
// links and aliases that other sources add to it stay. Normalize says what a
// store keeps of an entry.
type Entry struct {
	Record Record
	// Parent is resolved to Record.Parent when set, by key or alias; it may
	// be earlier in the same batch. One that does not exist leaves
	// Record.Parent as it is.
	Parent  Ref
	Aliases []string
	Links   []Link
	Votes   []Vote
	// Addition says that the entry only adds aliases and links to a record of
	// another source. Where there is none, it is left out.
	Addition bool
}

// Batch is one transaction of a sync.
type Batch struct {
	Source  string
	Entries []Entry
	// Events are replaced per reference: all events of a Ref that this source
	// wrote before are replaced by those in the batch.
	Events []Event
	// Delete tombstones records of this source, before the entries are
	// written; another's record only loses the links and aliases that this
	// source added. Ids of neither are ignored.
	Delete []int64
	// Cursor, when not nil, becomes the source's cursor.
	Cursor *string
	// Restore says that the entries come from another catalog's Dump: records
	// that are new keep the ids and the times they were first seen. ErrConflict
	// if another record has such an id.
	Restore bool
}

// Result counts what a batch did.
type Result struct {
	Created, Updated, Unchanged, Foreign, Deleted int
}

// Request asks whoever runs the scheduler for work: what api wants of ingest.
type Request struct {
	ID        int64
	Kind      string // "sync": the scheduler executes no other
	Argument  string // a source name, or empty for all
	CreatedAt time.Time
	Failure   string
}
