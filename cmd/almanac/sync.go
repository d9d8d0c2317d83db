package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"almanac/catalog"
	"almanac/catalog/network"
	"almanac/cmd/terminal"
	"almanac/ingest"
	"almanac/retrieval/stack"
)

type syncCmd struct {
	Sources      []string `arg:"" name:"source" optional:"" complete:"sources" help:"Sources to sync; default all."`
	AcceptShrink bool     `help:"Accept that a source lost more than a fifth of its records."`
}

func (*syncCmd) Help() string {
	return `Progress goes to standard error: bars on a terminal, lines of the log elsewhere.
The final table goes to standard output: OTHERS are records of its sources that
another owns; SKIPPED is what the last run that looked left out. It may run while the server does, whose
answers include the changes within two seconds.`
}

func (c *syncCmd) Run(ctx context.Context, a *app) error {
	n, at, store, err := openCatalog(ctx, a.openToWrite)
	if err != nil {
		return err
	}
	if err = a.checkCorpus(n); err == nil {
		err = c.sync(ctx, a, n, store, at.Dir)
	}
	return errors.Join(err, store.Close())
}

func (c *syncCmd) sync(ctx context.Context, a *app, n network.Network, store catalog.Store, dir string) error {
	pipeline, err := a.pipeline(ctx, n, store, dir, a.syncProgress(), c.AcceptShrink)
	if err != nil {
		return err
	}
	reports, err := pipeline.Sync(ctx, c.Sources)
	if len(reports) == 0 {
		return err
	}
	derived := pipeline.Derive(ctx)
	if err := a.printSync(reports); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if len(c.Sources) == 0 {
		if err := stack.MarkSynced(ctx, store); err != nil {
			return err
		}
	}
	if failed := failures(reports); failed != nil {
		return failed
	}
	return derived
}

// failures returns an error that names the failed sources; the reasons are in
// the table.
func failures(reports []ingest.Report) error {
	var names []string
	total := 0
	for _, r := range reports {
		if r.Err != nil {
			names = append(names, r.Source)
		}
		if r.Former == "" {
			total++
		}
	}
	if len(names) == 0 {
		return nil
	}
	return fmt.Errorf("%d of %d sources failed: %s", len(names), total, strings.Join(names, ", "))
}

func (a *app) printSync(reports []ingest.Report) error {
	tw := tabwriter.NewWriter(a.out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(tw, "SOURCE\tNEW\tCHANGED\tUNCHANGED\tOTHERS\tGONE\tSKIPPED\tTIME\tRESULT")
	for _, r := range reports {
		result := r.Verdict()
		if r.Err != nil {
			result = r.Failure()
		}
		fmt.Fprintf(tw, "%s\t%d\t%d\t%d\t%d\t%d\t%d\t%s\t%s\n", r.Source, r.Created, r.Updated, r.Unchanged,
			r.Foreign, r.Deleted, r.Skipped, r.Took.Round(time.Millisecond), a.here(terminal.OneLine(result)))
	}
	for _, r := range reports {
		if r.Err != nil && r.Former == "" {
			fmt.Fprintf(tw, "hint\t%s: %s\n", r.Source, a.here(remedy(r.Source, r.Err.Error())))
		}
	}
	return tw.Flush()
}
