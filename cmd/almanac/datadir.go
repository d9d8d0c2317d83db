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

// dataDir returns the data directory of a network and creates it if necessary.
func dataDir(configured, network string, environ []string) (string, error) {
	dir := configured
	if dir == "" {
		if dir = defaultDataDir(network, environ); dir == "" {
			return "", errors.New("there is no home directory for the data: set --data")
		}
	}
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return "", fmt.Errorf("data directory %s cannot be created: %w", dir, reason(err))
	}
	probe, err := os.CreateTemp(dir, ".write-*")
	if err != nil {
		return "", fmt.Errorf("data directory %s is not writable: %w", dir, reason(err))
	}
	return dir, errors.Join(probe.Close(), os.Remove(probe.Name()))
}

// defaultDataDir returns the default data directory of a network, "" without a
// home directory. A relative base directory is ignored, as the XDG Base
// Directory Specification demands.
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

// metaNetwork is the catalog's key for the name of its network.
const metaNetwork = "network"

// openCatalog opens the catalog of a directory and binds it to the network. It
// fails if an import is incomplete.
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

// bindCatalog opens the catalog of a directory and binds it to the network. It
// fails if the catalog is bound to another.
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
