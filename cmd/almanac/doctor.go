package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"almanac/api/limit"
	"almanac/catalog"
	"almanac/catalog/datadir"
	"almanac/catalog/network"
	"almanac/catalog/sqlstore"
	"almanac/cmd/config"
	"almanac/cmd/terminal"
	"almanac/embed"
	"almanac/ingest"
	"almanac/ingest/connectors"
	"almanac/retrieval/stack"
)

type doctorCmd struct {
	Catalog bool `help:"Check only that there is an undamaged catalog of the network, such as one put back from a copy."`
}

func (*doctorCmd) Help() string {
	return `Checks data directory, disk, catalog, model, engines, index and sources, and
prints one sentence for each problem and what to do about it. It changes nothing
but creates a missing data directory, and may run while the server does. After an
upgrade it says, also beside the older server, what the next start makes of the
directory: an update of the catalog, which is tried on a copy, or another index.`
}

// examination collects findings.
type examination struct {
	*app
	rows    [][]string
	failed  int
	catalog looked
}

func (x *examination) check(name string, err error, detail string) {
	if err != nil {
		x.failed++
		x.rows = append(x.rows, []string{x.style.Red("FAIL"), name, x.here(terminal.OneLine(err.Error()))})
		return
	}
	x.rows = append(x.rows, []string{x.style.Green("ok  "), name, detail})
}

func (x *examination) hint(text string) { x.rows = append(x.rows, []string{"hint", "", x.here(text)}) }

// doctorPatience bounds the wait for each server.
const doctorPatience = 10 * time.Second

// Run checks as much as possible.
func (c *doctorCmd) Run(ctx context.Context, a *app) error {
	if c.Catalog {
		return a.checkCatalog(ctx)
	}
	x := &examination{app: a}
	n, at, err := a.open()
	if err == nil {
		x.catalog, err = lookAt(ctx, n, at)
	}
	x.check("network and data directory", err, n.Name+" in "+at.Dir)
	if err == nil {
		if at.Sealed != nil {
			x.hint(at.Sealed.Error())
		} else {
			free, lowDisk := datadir.Free(at.Dir)
			x.check("disk", lowDisk, free)
		}
		x.check("catalog", at.Check(ctx), "undamaged: "+at.String())
		x.schema()
		if x.catalog.Store != nil {
			x.audience(ctx)
			err = errors.Join(x.engines(ctx, a, n, at), x.sources(ctx, n, x.catalog.Store), x.catalog.Close())
		}
	}
	if err := terminal.Rows(a.out, x.rows); err != nil {
		return err
	}
	if x.failed > 0 {
		return fmt.Errorf("%d of the checks failed", x.failed)
	}
	return err
}

// checkCatalog fails unless the data directory has a catalog that a server would
// start with. The catalog is not opened before its file is known to be sound: that
// would make one of an empty file.
func (a *app) checkCatalog(ctx context.Context) error {
	n, at, err := a.open()
	if err != nil {
		return err
	}
	if err := at.Check(ctx); err != nil {
		return err
	}
	store, err := lookAt(ctx, n, at)
	if err != nil {
		return err
	}
	if store.Store == nil {
		_, err := fmt.Fprintf(a.out, "%s is undamaged and has schema %d of %d\n", at, store.has, store.newest)
		return err
	}
	counts, err := store.Counts(ctx)
	records := 0
	for _, c := range counts {
		records += c.N
	}
	if err = errors.Join(err, store.Close()); err == nil {
		_, err = fmt.Fprintf(a.out, "%s holds %d records and is undamaged\n", at, records)
	}
	return err
}

// audience says whether a server of this configuration is published, and why.
func (x *examination) audience(ctx context.Context) {
	why, err := x.app.audience(x.config.Server.Listen, x.catalog.Store).Published(ctx)
	detail := "only this machine reaches the service: public lists have every search and every blocked host"
	if why != "" {
		detail = "the service is published, since " + why + ": public lists have what five clients searched for or reported " +
			"on one day"
	}
	x.check("audience", err, detail)
}

// schema says what a start makes of the catalog.
func (x *examination) schema() {
	switch {
	case x.catalog.Store == nil:
		x.check("schema", nil, fmt.Sprintf("%d; the next command of this program that opens the catalog updates it to %d, "+
			"and servers of the release before go on", x.catalog.has, x.catalog.newest))
		x.hint("engines, index and sources are looked at after that")
	case x.catalog.older():
		x.check("schema", nil, fmt.Sprintf("%d; this program has %d, to which a copy was updated, and what follows is of "+
			"the copy", x.catalog.has, x.catalog.newest))
		x.hint("the next command of this program that opens the catalog updates it, and programs of before refuse it then: " +
			"`almanac backup FILE` keeps a way back to them")
	case x.catalog.has > x.catalog.newest:
		x.check("schema", nil, fmt.Sprintf("%d of a newer program, which this one, of schema %d, can use", x.catalog.has,
			x.catalog.newest))
	}
}

// engines checks model, engines and index.
func (x *examination) engines(ctx context.Context, a *app, n network.Network, at datadir.Catalog) (err error) {
	store := x.catalog.Store
	var lock catalog.Lock
	if at.Sealed == nil {
		if lock, err = stack.TryLock(ctx, at.Dir, store.Locker); err != nil {
			return err
		}
		if lock == nil {
			x.check("index lock", nil, "held by another process, which writes the index")
			if x.catalog.older() {
				x.hint("an older almanac serves this directory and goes on: stop it first, since every other command of this " +
					"program is refused until then")
			}
		}
	}
	free := lock != nil
	cfg, err := a.stackConfig(n, at.Dir)
	cfg.Store, cfg.Sealed, cfg.Embed.Pull = store, at.Sealed, false
	var s *stack.Stack
	if err == nil {
		patient, cancel := context.WithTimeout(ctx, doctorPatience)
		s, err = stack.OpenReader(patient, cfg)
		cancel()
	}
	if free {
		err = errors.Join(err, lock.Unlock())
	}
	if err != nil {
		x.check("embedding model and engines", err, "")
		return nil
	}
	engines := s.Follower.Engines()
	ask := func(name, server string, call func(context.Context) error) {
		if server == "" {
			return
		}
		patient, cancel := context.WithTimeout(ctx, doctorPatience)
		defer cancel()
		x.check(name, call(patient), "answers at "+config.WithoutQuery(server))
	}
	ask("embedding model", a.config.Embed.URL, func(ctx context.Context) error {
		_, err := engines.Embedder.Embed(ctx, []string{"almanac doctor " + time.Now().String()}, embed.Query)
		return err
	})
	checkpoint := func(of func(context.Context) (int64, error)) func(context.Context) error {
		return func(ctx context.Context) error { _, err := of(ctx); return err }
	}
	ask("keyword engine", a.config.Keyword.URL, checkpoint(engines.Keyword.Checkpoint))
	ask("vector engine", a.config.Vector.URL, checkpoint(engines.Vector.Checkpoint))
	ask("cross-encoder", a.config.Rerank.URL, func(ctx context.Context) error {
		cross, err := stack.OpenCrossEncoder(cfg.Rerank)
		if err == nil {
			_, err = cross.Score(ctx, "doctor", []string{"almanac"})
		}
		return err
	})
	ask("limits of calls", withoutPassword(a.config.Limit.Redis), func(ctx context.Context) error {
		counts, err := limit.NewShared(limit.SharedConfig{URL: a.config.Limit.Redis, Log: a.log})
		if err != nil {
			return err
		}
		if err = counts.Reach(ctx); err != nil {
			err = fmt.Errorf("each server counts for itself: Redis is away: %w", err)
		}
		return errors.Join(err, counts.Close())
	})
	lag, _ := s.Follower.Lag()
	records, passages := s.Follower.Corpus().Size()
	x.check("index", nil, fmt.Sprintf("%d records in %d passages, %d changes behind; model %s",
		records, passages, lag, engines.Embedder.Model()))
	next, err := stack.FillingOf(ctx, store)
	switch {
	case err != nil:
		x.check("index of another model", err, "")
	case next != nil:
		x.check("index of another model", nil, fmt.Sprintf("%s, built while `almanac serve` runs: %d of %d passages, %.1f %%%s",
			next.Model, next.Vectors, next.Passages, 100*next.Share(), about(next.Left)))
	}
	if why := cfg.Embed.Stays(); why != "" {
		x.hint(why)
	}
	x.check("searches", nil, "of a server pass admit, metrics, then the engines")
	earlier, err := s.Earlier(ctx)
	switch {
	case earlier != nil:
		x.hint(earlier.String())
	case lag > 0 && free:
		x.hint("the next `almanac serve` or `almanac search` indexes the changes")
	}
	return errors.Join(err, s.Close())
}

// withoutPassword is an address as it may be printed.
func withoutPassword(address string) string {
	if u, err := url.Parse(address); err == nil {
		return u.Redacted()
	}
	return address // none that the configuration takes
}

// about says how long something will take; nothing if that is unknown.
func about(left time.Duration) string {
	if left == 0 {
		return ""
	}
	return fmt.Sprintf(", about %v left", left.Round(time.Second))
}

// sources checks the last sync of every source, and that the network file names
// all that the catalog has.
func (x *examination) sources(ctx context.Context, n network.Network, store *sqlstore.Store) error {
	states, err := store.Sources(ctx)
	former, formerErr := ingest.FormerSources(ctx, store, n)
	if err = errors.Join(err, formerErr); err != nil {
		x.check("sources", err, "")
		return nil
	}
	states = slices.DeleteFunc(states, func(st catalog.SourceState) bool {
		return slices.ContainsFunc(former, func(f ingest.Former) bool { return f.Name == st.Name })
	})
	fresh, failures := 0, 0
	for _, st := range states {
		switch st.Standing(now()) {
		case catalog.SourceCurrent:
			fresh++
		case catalog.SourceUnread: // the first run was killed, or is under way
		default:
			failures++
		}
	}
	var bad error
	if failures > 0 {
		bad = fmt.Errorf("%d of %d synced, %d not", fresh, len(n.Sources), failures)
	}
	x.check("sources", bad, fmt.Sprintf("%d of %d synced", fresh, len(n.Sources)))
	for _, st := range states {
		detail := "synced " + minute(st.LastSuccess)
		if st.LastRun.IsZero() {
			detail = "not read yet: no run of it has ended"
		}
		if st.Skipped > 0 {
			detail += fmt.Sprintf("; %d skipped", st.Skipped)
		}
		if st.Remark != "" {
			detail += "; " + terminal.OneLine(st.Remark)
		}
		x.check("source "+st.Name, sourceProblem(st, now()), detail)
		if st.Error != "" || st.Unread() {
			x.hint(remedy(st.Name, cmp.Or(st.Error, st.Remark)))
		}
	}
	for _, f := range former {
		x.check("source "+f.Name, fmt.Errorf("the network file no longer names it, and the catalog has %d records of it",
			f.Records), "")
		hint := "the next `almanac sync` of all sources, or start of `almanac serve`, passes them to the sources that " +
			"yield them and gives up the rest"
		if len(f.Awaits) > 0 {
			hint += ", once it has read " + strings.Join(f.Awaits, ", ")
		}
		x.hint(hint)
	}
	if len(states) == 0 {
		x.hint("run `almanac sync`, or `almanac serve`, which syncs periodically")
	}
	return x.file(ctx, n)
}

// file looks at the network file as `network check` does.
func (x *examination) file(ctx context.Context, n network.Network) error {
	findings, err := x.findings(ctx, n, x.config.Network.Name, connectors.CheckConfig{})
	if err != nil {
		return err
	}
	for _, f := range findings {
		if len(f.Problems) > 0 {
			x.check("options of "+f.Source.Name, errors.New(strings.Join(f.Problems, "; ")), "")
		}
		for _, advice := range f.Advice {
			x.hint(f.Source.Name + ": " + terminal.OneLine(advice))
		}
	}
	return nil
}

func minute(t time.Time) string { return t.UTC().Format("2006-01-02 15:04") }

func sourceProblem(st catalog.SourceState, now time.Time) error {
	switch st.Standing(now) {
	case catalog.SourceFailed:
		return errors.New(st.Error)
	case catalog.SourceStale:
		return fmt.Errorf("last synced %s, longer ago than its threshold of %v: is the server running, or a sync due?",
			minute(st.LastSuccess), st.Freshness)
	case catalog.SourceEmpty:
		return errors.New(st.Remark)
	}
	return nil
}
