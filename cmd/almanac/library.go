package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"almanac/catalog/datadir"
	"almanac/catalog/network"
	"almanac/catalog/sqlstore"
	"almanac/retrieval/ranking"
	"almanac/retrieval/stack"
)

// library is an open data directory: catalog and index.
type library struct {
	*stack.Stack
	network   network.Network
	store     *sqlstore.Store
	at        datadir.Catalog
	temporary bool // close removes the directory
}

// openCatalog opens the catalog of the configured network, of which open says where it
// is: app.open or app.openToWrite.
func openCatalog(ctx context.Context, open func() (network.Network, datadir.Catalog, error)) (
	n network.Network, at datadir.Catalog, store *sqlstore.Store, err error,
) {
	if n, at, err = open(); err != nil {
		return n, at, nil, err
	}
	store, err = at.Open(ctx, n.Name, stack.Indexed(at.Dir))
	return n, at, store, err
}

// withCatalog opens the catalog of the configured network for some work.
func (a *app) withCatalog(ctx context.Context, work func(*sqlstore.Store) error) error {
	_, _, store, err := openCatalog(ctx, a.open)
	if err != nil {
		return err
	}
	return errors.Join(work(store), store.Close())
}

// looked is a catalog that is open and stays as it is.
type looked struct {
	// Store is the catalog, or a copy of it that was updated if its schema is an older one. nil: it is in a database, which
	// is not copied.
	*sqlstore.Store
	has, newest int64  // schema of the catalog, and of this program
	copied      string // directory of the copy; "" = there is none
}

// older reports whether a start of this program updates the catalog.
func (l looked) older() bool { return l.has != 0 && l.has < l.newest }

// Close closes the catalog and removes its copy.
func (l looked) Close() error {
	err := l.Store.Close()
	if l.copied != "" {
		err = errors.Join(err, os.RemoveAll(l.copied))
	}
	return err
}

// lookAt opens a catalog without updating it: an older program may have it open, which would not read it any more.
func lookAt(ctx context.Context, n network.Network, at datadir.Catalog) (l looked, err error) {
	if l.has, l.newest, err = at.Schema(ctx); err != nil {
		return l, err
	}
	if !l.older() {
		l.Store, err = at.Open(ctx, n.Name, stack.Indexed(at.Dir))
		return l, err
	}
	if at.URL != "" {
		return l, nil
	}
	if at.Sealed == nil { // where there is room for a catalog
		l.copied = filepath.Join(at.Dir, ".doctor") // a killed one's is in the way
		err = errors.Join(os.RemoveAll(l.copied), os.Mkdir(l.copied, 0o700))
	} else {
		l.copied, err = os.MkdirTemp("", "almanac-doctor-*")
	}
	if err == nil {
		l.Store, err = at.Try(ctx, n.Name, l.copied)
	}
	if err != nil {
		return l, errors.Join(err, os.RemoveAll(l.copied))
	}
	return l, nil
}

// openLibrary opens the data directory of the configured network, its index by
// open. Searches may use the profiles in addition to the configured one.
func (a *app) openLibrary(ctx context.Context, open opener, profiles ...ranking.Profile) (*library, error) {
	n, at, err := a.open()
	if err != nil {
		return nil, err
	}
	cfg, err := a.stackConfig(n, at.Dir, profiles...)
	if err != nil {
		return nil, err
	}
	return openLibrary(ctx, n, at, cfg, open)
}

// opener opens an index, as stack.Open does.
type opener func(context.Context, stack.Config) (*stack.Stack, error)

// openLibrary opens a catalog, then its index by open. A temporary
// directory is removed on an error.
func openLibrary(
	ctx context.Context, n network.Network, from datadir.Catalog, cfg stack.Config, open opener,
) (_ *library, err error) {
	defer func() {
		if err != nil && cfg.Temporary {
			err = errors.Join(err, os.RemoveAll(cfg.Dir))
		}
	}()
	store, err := from.Open(ctx, n.Name, stack.Indexed(cfg.Dir))
	if err != nil {
		return nil, err
	}
	cfg.Store, cfg.Sealed = store, from.Sealed
	s, err := open(ctx, cfg)
	if err != nil {
		return nil, errors.Join(err, store.Close())
	}
	if !cfg.Temporary {
		ranking.NewFollower(ranking.Source{Store: store, Base: cfg.Relevance}, s.Searcher, cfg.Log).Look(ctx)
	}
	return &library{Stack: s, network: n, store: store, at: from, temporary: cfg.Temporary}, nil
}

func (l *library) close() error {
	err := errors.Join(l.Stack.Close(), l.store.Close())
	if l.temporary {
		err = errors.Join(err, os.RemoveAll(l.at.Dir))
	}
	return err
}
