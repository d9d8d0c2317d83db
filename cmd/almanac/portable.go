package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"almanac/catalog"
	"almanac/catalog/archive"
	"almanac/ingest"
	"almanac/ingest/connectors"
	"almanac/ingest/networks"
	"almanac/retrieval/stack"
)

type exportCmd struct {
	Dir string `arg:"" help:"Directory to write; it must be new or empty."`
}

func (*exportCmd) Help() string {
	return `Writes the catalog as a portable corpus: a manifest with checksums, the network's
description and JSON lines. It may run beside a serve. ` + "`almanac import DIR`" + ` reads it
into an empty data directory, which then gives the same answers.`
}

func (c *exportCmd) Run(ctx context.Context, a *app) error {
	n, dir, err := a.open()
	if err != nil {
		return err
	}
	store, err := openCatalog(ctx, dir, n.Name)
	if err != nil {
		return err
	}
	files, err := networks.Folder(a.config.Network.Name)
	if err != nil {
		return errors.Join(err, store.Close())
	}
	if folder, ok := files.(ingest.Folder); ok {
		n = connectors.All(time.Time{}).Rooted(n, folder.Dir())
	}
	bar := a.progress("export")
	sum, err := archive.Write(ctx, store, n, c.Dir, bar.set)
	bar.done()
	if err = errors.Join(err, store.Close()); err != nil {
		return err
	}
	fmt.Fprintf(a.out, "%s: %s\n", c.Dir, counted(sum))
	return nil
}

type importCmd struct {
	Dir string `arg:"" help:"Directory that almanac export wrote."`
}

func (*importCmd) Help() string {
	return `Reads an exported corpus into an empty data directory. The network must be the
exported one; DIR/network.yaml describes it, for --network. An import that was
interrupted goes on when it is run again.`
}

func (c *importCmd) Run(ctx context.Context, a *app) error {
	corpus := os.DirFS(c.Dir)
	exported, err := archive.Network(corpus)
	if err != nil {
		return fmt.Errorf("%s is no exported corpus: %w", c.Dir, reason(err))
	}
	n, dir, err := a.open()
	if err != nil {
		return err
	}
	if n.Name != exported.Name {
		return fmt.Errorf("%s is of network %s, not of %s: add --network %s/network.yaml", c.Dir, exported.Name, n.Name, c.Dir)
	}
	store, err := bindCatalog(ctx, dir, n.Name)
	if err != nil {
		return err
	}
	sum, err := readCorpus(ctx, a, store, corpus)
	if err = errors.Join(err, store.Close()); err != nil {
		return err
	}
	fmt.Fprintf(a.out, "%s: %s\n", dir, counted(sum))
	return nil
}

func readCorpus(ctx context.Context, a *app, store catalog.Store, corpus fs.FS) (archive.Summary, error) {
	bar := a.progress("import")
	sum, err := archive.Read(ctx, store, corpus, bar.set)
	bar.done()
	if err != nil {
		return sum, err
	}
	return sum, stack.MarkSynced(ctx, store)
}

func counted(s archive.Summary) string {
	return fmt.Sprintf("%d records, %d additions, %d events, %d snapshots, %d sources", s.Records, s.Additions, s.Events, s.Snapshots, s.Sources)
}
