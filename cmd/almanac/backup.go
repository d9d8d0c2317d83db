package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"almanac/catalog/datadir"
	"almanac/catalog/sqlstore"
	"almanac/retrieval/stack"
)

type backupCmd struct {
	File string `arg:"" help:"Archive to write (.tar.gz)."`
}

func (*backupCmd) Help() string {
	return `Writes what a data directory cannot make again, the catalog and the cache of
embeddings, as they are at one moment. It may run while the server does. The file
is complete when it has its name, and has sizes and checksums (manifest.json).
Back up network files and configuration yourself. A catalog on PostgreSQL is
backed up by its own tools, or by ` + "`almanac export`" + `.`
}

// cacheOf is the name of the cache of embeddings in a data directory.
func cacheOf(at datadir.Catalog) string { return filepath.Base(stack.EmbeddingsOf(at.Dir)) }

func (c *backupCmd) Run(ctx context.Context, a *app) error {
	n, at, err := a.open()
	if err != nil {
		return err
	}
	made := datadir.Backup{Network: n.Name, Program: version(), Made: now().UTC().Truncate(time.Second)}
	made, err = at.Backup(ctx, c.File, made, cacheOf(at))
	if err != nil {
		return err
	}
	fmt.Fprintf(a.out, "%s: network %s, schema %d\n", c.File, made.Network, made.Schema)
	for _, f := range made.Files {
		fmt.Fprintf(a.out, "  %s  %d bytes\n", f.Name, f.Size)
	}
	_, err = fmt.Fprintln(a.out, a.here("`almanac restore "+c.File+"` puts it back"))
	return err
}

type restoreCmd struct {
	File string `arg:"" help:"Archive that almanac backup wrote."`
}

func (*restoreCmd) Help() string {
	return `Replaces the catalog of the data directory, and its cache of embeddings, by those
of a backup. Stop whatever has the directory open before. The archive is read to
its end, compared with its checksums, and its catalog opened, before anything is
replaced: a damaged one, one of another network or of a newer program changes
nothing. The index is built again by the next start.`
}

func (c *restoreCmd) Run(ctx context.Context, a *app) (err error) {
	n, at, err := a.openToWrite()
	if err != nil {
		return err
	}
	if at.URL == "" { // else it is refused
		lock, err := stack.TryLock(ctx, at.Dir, nil)
		if err != nil {
			return err
		}
		if lock == nil {
			return fmt.Errorf("another process has %s open: stop it, then run this again; nothing was changed", at.Dir)
		}
		defer func() { err = errors.Join(err, lock.Unlock()) }()
	}
	records := 0
	put, err := at.Restore(ctx, c.File, n.Name, func(ctx context.Context, store *sqlstore.Store) error {
		counts, err := store.Counts(ctx)
		for _, k := range counts {
			records += k.N
		}
		return errors.Join(err, stack.Forget(ctx, store))
	}, cacheOf(at))
	if err == nil {
		err = stack.RemoveSnapshots(at.Dir) // of the catalog that was there
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(a.out, "%s: %d records of network %s, as of %s (almanac %s)\n", at.Dir, records, put.Network,
		put.Made.Format(time.DateTime), put.Program)
	next := "next: `almanac doctor`, then `almanac serve`, which builds the index again"
	if a.config.Keyword.URL != "" || a.config.Vector.URL != "" {
		next = "next: `almanac reindex`, which empties what the engines on servers hold, then `almanac serve`"
	}
	_, err = fmt.Fprintln(a.out, a.here(next))
	return err
}
