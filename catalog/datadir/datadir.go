// Package datadir opens data directories, saves them and puts them back. One holds the catalog of one network, unless
// that is in a database elsewhere, and what is made from it, and refuses any other
// network.
package datadir

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"almanac/catalog"
	"almanac/catalog/archive"
	"almanac/catalog/datadir/filesystem"
	"almanac/catalog/postgres"
	"almanac/catalog/sqlite"
	"almanac/catalog/sqlstore"
)

// Default returns the data directory of a network below xdgDataHome, or below
// home, "" without either. A relative base directory is ignored, as the XDG Base
// Directory Specification demands.
func Default(network, xdgDataHome, home string) string {
	if !filepath.IsAbs(xdgDataHome) {
		if home == "" {
			return ""
		}
		xdgDataHome = filepath.Join(home, ".local", "share")
	}
	return filepath.Join(xdgDataHome, "almanac", network)
}

// Create makes a directory that is missing. sealed is why one that has a catalog can
// only be read; any other has to be written.
func Create(dir string) (sealed, err error) {
	if dir == "" {
		return nil, errors.New("there is no home directory for the data: set --data")
	}
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return nil, fmt.Errorf("data directory %s cannot be created: %w", dir, reason(err))
	}
	if err = probe(dir); err == nil {
		err = filesystem.Writable(File(dir))
	}
	_, missing := os.Stat(File(dir))
	switch {
	case err == nil, errors.Is(err, os.ErrNotExist):
		return nil, nil
	case errors.Is(missing, os.ErrNotExist):
		return nil, fmt.Errorf("data directory %s is not writable; --data names another: %w", dir, reason(err))
	}
	return fmt.Errorf("data directory %s cannot be written, so that its catalog is read as it is, and nothing synced, "+
		"indexed, judged or published; --data names another: %w", dir, reason(err)), nil
}

// probe fails if no file can be made in a directory.
func probe(dir string) error {
	f, err := os.CreateTemp(dir, ".write-*")
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// reason returns an error of the file system without operation and path.
func reason(err error) error {
	if e, ok := errors.AsType[*os.PathError](err); ok {
		return e.Err
	}
	return err
}

// metaNetwork is the catalog's key for the name of its network.
const metaNetwork = "network"

// Catalog is where a catalog is: in a PostgreSQL database, or in a file of the data
// directory if there is no address.
type Catalog struct {
	Dir, URL string
	Sealed   error            // why directory and catalog can only be read; nil: they can be written
	Now      func() time.Time // the clock of what is stored; nil means time.Now
}

// File returns the file of a directory's catalog.
func File(dir string) string { return filepath.Join(dir, catalogFile) }

// String is what operators call it.
func (c Catalog) String() string {
	if c.URL != "" {
		return postgres.Name(c.URL)
	}
	return File(c.Dir)
}

// Exists reports whether anything was stored in it, as far as its file says.
func (c Catalog) Exists() bool {
	_, err := os.Stat(File(c.Dir))
	return c.URL != "" || err == nil
}

// Check reads the whole catalog and looks for damage. A file that is missing or empty is
// no catalog.
func (c Catalog) Check(ctx context.Context) error {
	if c.URL != "" {
		return postgres.Check(ctx, c.URL)
	}
	return sqlite.Check(ctx, sqlite.Config{Path: File(c.Dir), Sealed: c.Sealed})
}

// Schema returns the schema of the catalog, 0 where there is none yet, and the one that Open updates it to. It changes
// nothing, whoever has the catalog open.
func (c Catalog) Schema(ctx context.Context) (has, newest int64, err error) {
	if c.URL != "" {
		return postgres.Schema(ctx, c.URL)
	}
	return sqlite.Schema(ctx, sqlite.Config{Path: File(c.Dir), Sealed: c.Sealed})
}

// Try opens a copy of the catalog, as it is at one moment, in an empty directory: Open would
// update the catalog itself. One in a database is not copied.
func (c Catalog) Try(ctx context.Context, network, dir string) (*sqlstore.Store, error) {
	if c.URL != "" {
		return nil, c.errElsewhere()
	}
	if err := sqlite.Copy(ctx, sqlite.Config{Path: File(c.Dir), Sealed: c.Sealed}, File(dir)); err != nil {
		return nil, err
	}
	store, known, err := Catalog{Dir: dir}.open(ctx)
	if err != nil {
		return nil, fmt.Errorf("%s cannot be updated, which was tried on a copy; nothing was changed: %w", c, err)
	}
	if err := c.bind(ctx, store, known, network); err != nil {
		return nil, errors.Join(err, store.Close())
	}
	return store, nil
}

// Open opens the catalog and binds it to the network. It fails if an import is
// incomplete, and if the catalog was emptied: it is there and holds nothing, although
// the directory is indexed.
func (c Catalog) Open(ctx context.Context, network string, indexed bool) (*sqlstore.Store, error) {
	existed := c.Exists()
	store, known, err := c.open(ctx)
	if err != nil {
		return nil, err
	}
	if existed && known == "" && indexed {
		err = fmt.Errorf("%s is empty although an index lies in %s, so it lost what it held: "+
			"put a copy in its place, or remove both to start again", c, c.Dir)
	}
	if err == nil {
		err = c.bind(ctx, store, known, network)
	}
	unfinished := false
	if err == nil {
		unfinished, err = archive.Unfinished(ctx, store)
	}
	if err == nil && unfinished {
		err = fmt.Errorf("an import into %s did not finish: run it again", c)
	}
	if err != nil {
		return nil, errors.Join(err, store.Close())
	}
	return store, nil
}

// OpenForImport opens the catalog and binds it to the network.
func (c Catalog) OpenForImport(ctx context.Context, network string) (*sqlstore.Store, error) {
	store, known, err := c.open(ctx)
	if err != nil {
		return nil, err
	}
	if err := c.bind(ctx, store, known, network); err != nil {
		return nil, errors.Join(err, store.Close())
	}
	return store, nil
}

// Watch looks at each tick whether the open catalog is still the file that it was, until
// ctx is done: what is written to one that was replaced while it was open is lost. A
// database on a server is not replaced, but a newer program may change its schema.
func (c Catalog) Watch(ctx context.Context, store *sqlstore.Store, tick <-chan time.Time) error {
	if store.Locker != nil {
		for {
			select {
			case <-ctx.Done():
				return nil
			case <-tick:
			}
			if err := store.Locker.Fits(ctx); err != nil && ctx.Err() == nil && !errors.Is(err, catalog.ErrUnreachable) {
				return err
			}
		}
	}
	opened, err := os.Stat(File(c.Dir))
	for err == nil {
		select {
		case <-ctx.Done():
			return nil
		case <-tick:
		}
		var now os.FileInfo
		if now, err = os.Stat(File(c.Dir)); err == nil && !os.SameFile(opened, now) {
			return fmt.Errorf("%s was replaced while it was open: start again", c)
		}
	}
	return fmt.Errorf("the catalog is gone: %w", err)
}

// open opens the catalog; known is the network it is bound to, "" = none.
func (c Catalog) open(ctx context.Context) (store *sqlstore.Store, known string, err error) {
	if c.URL != "" {
		store, err = postgres.Open(ctx, postgres.Config{URL: c.URL, Now: c.Now})
	} else {
		store, err = sqlite.Open(ctx, sqlite.Config{Path: File(c.Dir), Sealed: c.Sealed, Now: c.Now})
	}
	if err != nil {
		return nil, "", err
	}
	if known, err = store.Meta(ctx, metaNetwork); err != nil {
		return nil, "", errors.Join(err, store.Close())
	}
	return store, known, nil
}

func (c Catalog) bind(ctx context.Context, store *sqlstore.Store, known, network string) error {
	switch known {
	case "":
		return store.SetMeta(ctx, metaNetwork, network)
	case network:
		return nil
	}
	if c.URL != "" {
		return fmt.Errorf("%s holds the network %q: use another database for %q, "+
			"or name the network of this one with --network (%[2]s, or its file)", c, known, network)
	}
	return fmt.Errorf("data directory %s holds the network %q: use another directory for %q, "+
		"or name the network of this one with --network (%[2]s, or its file)", c.Dir, known, network)
}

// Enough is the space that a sync and the index of a middle-sized network need,
// in bytes.
const Enough = 1e9

// Free describes the free space of a directory's file system. Less than Enough is
// an error.
func Free(dir string) (string, error) {
	free, err := filesystem.Space(dir)
	if err != nil {
		return "", fmt.Errorf("the file system of %s: %w", dir, err)
	}
	if free < Enough {
		return "", fmt.Errorf("the file system of %s has only %s free, a sync can need %s", dir, size(free), size(Enough))
	}
	return size(free) + " free", nil
}

// size writes a number of bytes in decimal units: 1.2 TB.
func size(bytes float64) string {
	units := []string{"B", "kB", "MB", "GB", "TB", "PB"}
	for len(units) > 1 && bytes >= 1000 {
		bytes, units = bytes/1000, units[1:]
	}
	return fmt.Sprintf("%.1f %s", bytes, units[0])
}
