package main

import (
	"context"
	"errors"
	"os"

	"almanac/catalog"
	"almanac/catalog/network"
	"almanac/retrieval/stack"
)

// library is an open data directory: catalog and index.
type library struct {
	*stack.Stack
	store     catalog.Store
	dir       string
	temporary bool // close removes the directory
}

// openLibrary opens a directory's catalog, then its index by open.
func openLibrary(ctx context.Context, n network.Network, cfg stack.Config,
	open func(context.Context, stack.Config) (*stack.Stack, error),
) (*library, error) {
	store, err := openCatalog(ctx, cfg.Dir, n.Name)
	if err != nil {
		return nil, err
	}
	cfg.Store = store
	s, err := open(ctx, cfg)
	if err != nil {
		return nil, errors.Join(err, store.Close())
	}
	return &library{Stack: s, store: store, dir: cfg.Dir, temporary: cfg.Temporary}, nil
}

func (l *library) close() error {
	err := errors.Join(l.Stack.Close(), l.store.Close())
	if l.temporary {
		err = errors.Join(err, os.RemoveAll(l.dir))
	}
	return err
}
