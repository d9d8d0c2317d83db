package catalog

import (
	"context"
	"errors"
	"time"
)

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
	// that was never read. State goes with it: what the run leaves for the next one.
	Cursor *string
	State  []byte
	// Restore says that the entries come from another catalog's Dump: new
	// records keep their ids and FirstSeenAt. ErrConflict if another record
	// already has such an id.
	Restore bool
}

// Result counts what a batch did.
type Result struct {
	Created, Updated, Unchanged, Foreign, Deleted int
}

// ErrOvertaken is returned for a write of a process that was the writer and is not any
// more: another took over while this one was stopped or cut off.
var ErrOvertaken = errors.New("another process has taken over")

// ErrNotWriter is returned for a write of a process that is not the writer while another
// one is.
var ErrNotWriter = errors.New("another process writes this catalog: stop it, or have it do this")

// ErrUnreachable: the database does not answer, which may pass.
var ErrUnreachable error = unreachable{}

type unreachable struct{}

func (unreachable) Error() string { return "is the database running, and is its address right?" }

// Unreachable tells packages that know no catalog what kind of error this is.
func (unreachable) Unreachable() {}

// Lock makes one process the writer: the one that syncs, executes jobs and indexes.
type Lock interface {
	// Lost is closed when another process may have taken over. It is nil if that
	// cannot happen.
	Lost() <-chan struct{}
	// Epoch grows with each process that takes over: what a lower one writes elsewhere
	// than to the catalog is refused too. 0: no other can take over.
	Epoch() int64
	// Unlock lets another process take over at once.
	Unlock() error
}

// Locker is a store that several machines share, which says which process is the
// writer. Of another store a lock of the file system says it.
type Locker interface {
	// TryLock returns nil while another process is the writer.
	TryLock(ctx context.Context) (Lock, error)
	// Attend says that this process reads the index and serves a generation, for the
	// next seconds.
	Attend(ctx context.Context, generation int64) error
	// Elsewhere returns how many processes that attend serve other generations.
	Elsewhere(ctx context.Context, generation int64) (int, error)
	// Fits fails if a newer program has changed the schema so that this one must not
	// use it.
	Fits(ctx context.Context) error
}

// ErrDamaged: the file does not hold what was written to it. Only an operator mends that.
var ErrDamaged = errors.New("the catalog is damaged")

// Failure is what a store returns when it could not do what it was asked: the fault is the
// catalog's, not that of whoever needed it.
type Failure struct {
	Op  string // what it was asked for
	Err error
}

func (f *Failure) Error() string { return "catalog: " + f.Op + ": " + f.Err.Error() }
func (f *Failure) Unwrap() error { return f.Err }

// Failed reports whether an error is a store's.
func Failed(err error) bool {
	_, ok := errors.AsType[*Failure](err)
	return ok
}

// Public says in the words of /ready why a store does not answer.
func Public(err error) string {
	switch {
	case errors.Is(err, ErrUnreachable):
		return "does not answer"
	case errors.Is(err, ErrDamaged):
		return "is damaged"
	}
	return "cannot be read"
}
