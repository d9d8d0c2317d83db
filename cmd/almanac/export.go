package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"almanac/catalog/archive"
	"almanac/ingest"
	"almanac/ingest/connectors"
	"almanac/ingest/networks"
)

type exportCmd struct {
	Dir string `arg:"" help:"Directory to write; it must be new or empty."`
}

func (*exportCmd) Help() string {
	return `Writes the catalog as a portable corpus: a manifest with checksums, the network's
description and JSON lines. It may run while the server does. ` + "`almanac import DIR`" + `
reads it into an empty data directory, which then gives the same answers.`
}

func (c *exportCmd) Run(ctx context.Context, a *app) error {
	n, _, store, err := openCatalog(ctx, a.open)
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
	sum, err := archive.Write(ctx, store, n, c.Dir, bar.Set)
	bar.End()
	if err = errors.Join(err, store.Close()); err != nil {
		return err
	}
	fmt.Fprintf(a.out, "%s: %s\n", c.Dir, counted(sum))
	return nil
}

func counted(s archive.Summary) string {
	return fmt.Sprintf("%d records, %d additions, %d events, %d snapshots, %d sources",
		s.Records, s.Additions, s.Events, s.Snapshots, s.Sources)
}
