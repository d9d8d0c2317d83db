package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"text/tabwriter"
	"time"

	"almanac/catalog"
	"almanac/catalog/network"
	"almanac/ingest"
)

type syncCmd struct {
	Sources      []string `arg:"" optional:"" help:"Sources to sync; all of the network when left out."`
	AcceptShrink bool     `help:"Accept that a source lost more than a fifth of its records."`
}

func (c *syncCmd) Run(ctx context.Context, a *app) error {
	n, dir, err := a.open()
	if err != nil {
		return err
	}
	store, err := openCatalog(ctx, dir, n.Name)
	if err != nil {
		return err
	}
	defer store.Close()
	pipeline, err := a.pipeline(ctx, n, store, dir, c.AcceptShrink)
	if err != nil {
		return err
	}
	reports, err := pipeline.Sync(ctx, c.Sources)
	if errors.Is(err, ingest.ErrUnknownSource) {
		return fmt.Errorf("%w: %w", errUsage, err)
	}
	if printErr := printSync(a.out, reports); printErr != nil {
		return printErr
	}
	return err
}

// pipeline makes the pipeline of a network, with progress bars on a terminal
// and JSON lines elsewhere.
func (a *app) pipeline(ctx context.Context, n network.Network, store catalog.Store, dir string, acceptShrink bool) (*ingest.Pipeline, error) {
	anchor, err := a.sampleAnchor(ctx, store)
	if err != nil {
		return nil, err
	}
	progress := ingest.JSONLines(a.err, time.Now)
	if isTerminal(a.err) {
		progress = ingest.Bars(a.err)
	}
	return ingest.New(ingest.Config{Store: store, Network: n, Connectors: a.connectors(anchor), Now: time.Now, Log: a.log, Progress: progress,
		WorkDir: filepath.Join(dir, "sources"), CorpusDir: a.config.Network.CorpusDir, AcceptShrink: acceptShrink}), nil
}

func printSync(w io.Writer, reports []ingest.Report) error {
	tw := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	fmt.Fprintln(tw, "SOURCE\tNEW\tCHANGED\tUNCHANGED\tGONE\tSKIPPED\tTIME\tRESULT")
	for _, r := range reports {
		result := "ok"
		if r.Err != nil {
			result = r.Err.Error()
		}
		fmt.Fprintf(tw, "%s\t%d\t%d\t%d\t%d\t%d\t%s\t%s\n", r.Source, r.Created, r.Updated, r.Unchanged, r.Deleted, r.Skipped, r.Took.Round(time.Millisecond), result)
	}
	return tw.Flush()
}
