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
func dataDir(configured, network string) (string, error) {
	dir := configured
	if dir == "" {
		base := os.Getenv("XDG_DATA_HOME")
		if base == "" {
			home, err := os.UserHomeDir()
			if err != nil {
				return "", fmt.Errorf("no data directory: set --data: %w", err)
			}
			base = filepath.Join(home, ".local", "share")
		}
		dir = filepath.Join(base, "almanac", network)
	}
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return "", fmt.Errorf("data directory %s cannot be made: %w", dir, err)
	}
	probe, err := os.CreateTemp(dir, ".write-*")
	if err != nil {
		return "", fmt.Errorf("data directory %s is not writable: %w", dir, errors.Unwrap(err))
	}
	probe.Close()
	return dir, os.Remove(probe.Name())
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

// errLocked: another process writes the index.
var errLocked = errors.New("another process holds the index lock")

func lockIndex(dir string) (*indexLock, error) {
	f, err := os.OpenFile(filepath.Join(dir, "index.lock"), os.O_RDWR|os.O_CREATE, 0o640)
	if err != nil {
		return nil, fmt.Errorf("index lock: %w", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, errLocked
		}
		return nil, fmt.Errorf("index lock: %w", err)
	}
	return &indexLock{f}, nil
}

func (l *indexLock) unlock() error {
	if l == nil {
		return nil
	}
	return l.file.Close()
}
