package stack

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// Lock makes one process the writer of a directory's index. The kernel releases
// it when the process ends, however it ends.
type Lock struct{ file *os.File }

// TryLock returns nil if another process writes the index.
func TryLock(dir string) (*Lock, error) {
	f, err := os.OpenFile(filepath.Join(dir, "index.lock"), os.O_RDWR|os.O_CREATE, 0o640)
	if err != nil {
		return nil, fmt.Errorf("index lock: %w", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, nil
		}
		return nil, fmt.Errorf("index lock: %w", err)
	}
	return &Lock{f}, nil
}

// Unlock releases the lock; on a nil or released one it does nothing.
func (l *Lock) Unlock() error {
	if l == nil || l.file == nil {
		return nil
	}
	f := l.file
	l.file = nil
	return f.Close()
}
