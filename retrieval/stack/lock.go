package stack

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"

	"almanac/catalog"
)

// TryLock makes this process the writer of an index: by the lock of a store that machines
// share, if shared is one, else by one of the directory, which the kernel releases when the
// process ends, however it ends. It returns nil if another process is the writer.
func TryLock(ctx context.Context, dir string, shared catalog.Locker) (catalog.Lock, error) {
	if shared != nil {
		l, err := shared.TryLock(ctx)
		if err != nil {
			return nil, fmt.Errorf("index lock: %w", err)
		}
		return l, nil
	}
	f := flock.New(filepath.Join(dir, "index.lock"), flock.SetFlag(os.O_RDWR|os.O_CREATE), flock.SetPermissions(0o640))
	held, err := f.TryLock()
	if err != nil {
		return nil, fmt.Errorf("index lock: %w", errors.Join(err, f.Close()))
	}
	if !held {
		return nil, f.Close()
	}
	return &fileLock{f}, nil
}

// tryLock is TryLock for the index of a configuration, which nobody writes from here if
// it is sealed.
func (c Config) tryLock(ctx context.Context) (catalog.Lock, error) {
	if c.Sealed != nil {
		return nil, nil
	}
	return TryLock(ctx, c.Dir, c.Store.Locker)
}

type fileLock struct{ file *flock.Flock }

// Lost implements catalog.Lock: the kernel takes no lock away.
func (l *fileLock) Lost() <-chan struct{} { return nil }

// Epoch implements catalog.Lock.
func (l *fileLock) Epoch() int64 { return 0 }

// Unlock implements catalog.Lock. Unlocking again does nothing.
func (l *fileLock) Unlock() error {
	if l.file == nil {
		return nil
	}
	f := l.file
	l.file = nil
	return f.Close()
}

// unlock releases a lock, if there is one.
func unlock(l catalog.Lock) error {
	if l == nil {
		return nil
	}
	return l.Unlock()
}
