package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/gofrs/flock"
)

// retryAfter is how long one waits for the turn of another before it looks again.
const retryAfter = 25 * time.Millisecond

// takeTurn waits until no other process prepares the catalog. give ends the
// turn; the kernel does when the process ends. SQLite has no lock that spans the
// transactions of a migration, and whoever only looks at an older schema would
// keep another process from migrating it. Where the file that is locked cannot
// be had there are no turns: SQLite then says what is wrong with the directory.
func takeTurn(ctx context.Context, path string) (give func() error, err error) {
	f := flock.New(path+".lock", flock.SetFlag(os.O_RDONLY|os.O_CREATE), flock.SetPermissions(0o640))
	for deadline := time.Now().Add(lockWait); ; {
		held, err := f.TryLock()
		switch {
		case held || err != nil: // there is no such file, or the file system has no locks
			return f.Close, nil
		case time.Now().After(deadline):
			err = fmt.Errorf("another process has been updating %s for %v: try again when it has ended", path, lockWait)
			return nil, errors.Join(&fileError{err}, f.Close())
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(ctx.Err(), f.Close())
		case <-time.After(retryAfter):
		}
	}
}
