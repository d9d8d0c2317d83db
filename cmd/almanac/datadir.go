package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"almanac/catalog"
)

// dataDir returns the data directory of a network and makes it.
func dataDir(configured, network string, environ []string) (string, error) {
	dir := configured
	if dir == "" {
		if dir = defaultDataDir(network, environ); dir == "" {
			return "", errors.New("there is no home directory to keep data in: set --data")
		}
	}
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return "", fmt.Errorf("data directory %s cannot be made: %w", dir, reason(err))
	}
	probe, err := os.CreateTemp(dir, ".write-*")
	if err != nil {
		return "", fmt.Errorf("data directory %s is not writable: %w", dir, reason(err))
	}
	return dir, errors.Join(probe.Close(), os.Remove(probe.Name()))
}

// defaultDataDir is where a network's data is kept unless told otherwise, ""
// without a home directory. A relative base directory is invalid and to be
// ignored (XDG Base Directory Specification).
func defaultDataDir(network string, environ []string) string {
	base := environment(environ, "XDG_DATA_HOME")
	if !filepath.IsAbs(base) {
		home := environment(environ, "HOME")
		if home == "" {
			return ""
		}
		base = filepath.Join(home, ".local", "share")
	}
	return filepath.Join(base, "almanac", network)
}

// reason is an error of the file system without the operation and path that
// the caller names better.
func reason(err error) error {
	if e, ok := errors.AsType[*os.PathError](err); ok {
		return e.Err
	}
	return err
}

// metaNetwork is where the catalog remembers its network.
const metaNetwork = "network"

// bindNetwork makes the directory the network's, or refuses when it is
// another's.
func bindNetwork(ctx context.Context, store catalog.Store, dir, network string) error {
	have, err := store.Meta(ctx, metaNetwork)
	if err != nil {
		return err
	}
	if have == "" {
		return store.SetMeta(ctx, metaNetwork, network)
	}
	if have != network {
		return fmt.Errorf("data directory %s holds the network %q: use another directory for %q, or --network %s", dir, have, network, have)
	}
	return nil
}

// indexLock makes one process the writer of a directory's index. The kernel
// lets go of it when the process ends, however it ends.
type indexLock struct{ file *os.File }

// lockIndex returns nil if another process writes the index.
func lockIndex(dir string) (*indexLock, error) {
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
	return &indexLock{f}, nil
}

func (l *indexLock) unlock() error {
	if l == nil || l.file == nil {
		return nil
	}
	f := l.file
	l.file = nil
	return f.Close()
}
