package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"almanac/catalog"
	"almanac/catalog/archive"
	"almanac/catalog/sqlite"
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

// metaNetwork is where the catalog remembers its network.
const metaNetwork = "network"

// openCatalog opens the catalog of a directory and binds it to its network. One
// that an import left incomplete is refused.
func openCatalog(ctx context.Context, dir, network string) (catalog.Store, error) {
	store, err := bindCatalog(ctx, dir, network)
	if err != nil {
		return nil, err
	}
	unfinished, err := archive.Unfinished(ctx, store)
	if err == nil && unfinished {
		err = fmt.Errorf("an import into %s did not finish: run it again", dir)
	}
	if err != nil {
		return nil, errors.Join(err, store.Close())
	}
	return store, nil
}

// bindCatalog opens the catalog of a directory and binds it to its network, or
// refuses when it is another's.
func bindCatalog(ctx context.Context, dir, network string) (catalog.Store, error) {
	store, err := sqlite.Open(ctx, sqlite.Config{Path: filepath.Join(dir, "catalog.db"), Now: time.Now})
	if err != nil {
		return nil, err
	}
	have, err := store.Meta(ctx, metaNetwork)
	switch {
	case err == nil && have == "":
		err = store.SetMeta(ctx, metaNetwork, network)
	case err == nil && have != network:
		err = fmt.Errorf("data directory %s holds the network %q: use another directory for %q, or --network %s",
			dir, have, network, have)
	}
	if err != nil {
		return nil, errors.Join(err, store.Close())
	}
	return store, nil
}
