package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"almanac/catalog"
	"almanac/catalog/jobs"
	"almanac/catalog/network"
	"almanac/catalog/sqlstore"
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
answers include the changes within two seconds. On a catalog in PostgreSQL one
process writes: while a server does, it is asked to sync, and this command waits.`
}

func (c *syncCmd) Run(ctx context.Context, a *app) error {
	n, at, store, err := openCatalog(ctx, a.openToWrite)
	if err != nil {
		return err
	}
	if err = a.checkCorpus(n); err == nil {
		err = c.alone(ctx, a, n, store, at.Dir)
	}
	return errors.Join(err, store.Close())
}

// alone syncs, or has the process do it that writes a catalog which machines share.
func (c *syncCmd) alone(ctx context.Context, a *app, n network.Network, store *sqlstore.Store, dir string) error {
	if store.Locker == nil {
		return c.sync(ctx, a, n, store, dir)
	}
	lock, err := store.Locker.TryLock(ctx)
	if err != nil {
		return err
	}
	if lock == nil {
		return c.ask(ctx, a, store)
	}
	return errors.Join(c.sync(ctx, a, n, store, dir), lock.Unlock())
}

// ask has a server sync. Its jobs go on when ctx ends.
func (c *syncCmd) ask(ctx context.Context, a *app, store *sqlstore.Store) error {
	if c.AcceptShrink {
		return errors.New("a server syncs this catalog and accepts no shrinking: stop all its servers, then run this again")
	}
	var ids []int64
	sources := c.Sources
	if len(sources) == 0 {
		sources = []string{""} // all
	}
	for _, source := range sources {
		id, err := jobs.Ask(ctx, store, catalog.Request{Kind: "sync", Argument: source, By: a.user()})
		if err != nil {
			return err
		}
		fmt.Fprintf(a.err, "a server writes this catalog: job %d asks it to sync %s\n", id, cmp.Or(source, "all sources"))
		ids = append(ids, id)
	}
	var errs []error
	for _, id := range ids {
		_, err := a.awaitJob(ctx, store, id, "sync")
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

func (c *syncCmd) sync(ctx context.Context, a *app, n network.Network, store *sqlstore.Store, dir string) error {
	end, err := a.telemetry(ctx, nil)
	if err != nil {
		return err
	}
	defer end()
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
	rows := [][]string{{"SOURCE", "NEW", "CHANGED", "UNCHANGED", "OTHERS", "GONE", "SKIPPED", "TIME", "RESULT"}}
	for _, r := range reports {
		result := r.Verdict()
		if r.Err != nil {
			result = r.Failure()
		}
		rows = append(rows, []string{r.Source, fmt.Sprint(r.Created), fmt.Sprint(r.Updated), fmt.Sprint(r.Unchanged),
			fmt.Sprint(r.Foreign), fmt.Sprint(r.Deleted), fmt.Sprint(r.Skipped), r.Took.Round(time.Millisecond).String(),
			a.here(terminal.OneLine(result))})
	}
	for _, r := range reports {
		if r.Err != nil && r.Former == "" {
			rows = append(rows, []string{"hint", r.Source + ": " + a.here(remedy(r.Source, r.Err.Error()))})
		}
	}
	return terminal.Rows(a.out, rows)
}
