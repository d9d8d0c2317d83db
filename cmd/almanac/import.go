package main

import (
	"context"
	"errors"
	"fmt"

	"almanac/catalog/archive"
	"almanac/ingest/folder"
	"almanac/retrieval/stack"
)

type importCmd struct {
	Dir string `arg:"" help:"Directory that almanac export wrote."`
}

func (*importCmd) Help() string {
	return `Reads an exported corpus into an empty data directory. The network must be the
exported one: DIR/network.yaml describes it, for --network. An interrupted import
continues when it is run again.`
}

func (c *importCmd) Run(ctx context.Context, a *app) error {
	corpus := folder.New(c.Dir)
	exported, err := archive.Network(corpus)
	if err != nil {
		return fmt.Errorf("%s is not an exported corpus: %w", c.Dir, reason(err))
	}
	n, at, err := a.openToWrite()
	if err != nil {
		return err
	}
	if n.Name != exported.Name {
		return fmt.Errorf("%s is of network %s, not of %s: add --network %[1]s/network.yaml",
			c.Dir, exported.Name, n.Name)
	}
	store, err := at.OpenForImport(ctx, n.Name)
	if err != nil {
		return err
	}
	bar := a.progress("import")
	sum, err := archive.Read(ctx, store, corpus, bar.Set)
	bar.End()
	if err == nil {
		err = stack.MarkSynced(ctx, store)
	}
	if err = errors.Join(err, store.Close()); err != nil {
		return err
	}
	fmt.Fprintf(a.out, "%s: %s\n", at.Dir, counted(sum))
	return nil
}
