package catalog

import (
	"context"
	"errors"
)

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
