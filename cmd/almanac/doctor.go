package main

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"text/tabwriter"
	"time"

	"almanac/catalog"
	"almanac/catalog/network"
	"almanac/embed"
	"almanac/retrieval/stack"
)

type doctorCmd struct{}

func (doctorCmd) Help() string {
	return `Checks data directory, disk, model, engines, index and sources, each with one
sentence that says what is wrong. It changes nothing but an empty data directory,
and may run beside a serve.`
}

// examination gathers the findings of a doctor.
type examination struct {
	tw     *tabwriter.Writer
	failed int
}

func (x *examination) check(name string, err error, detail string) {
	if err != nil {
		x.failed++
		fmt.Fprintf(x.tw, "FAIL\t%s\t%s\n", name, oneLine(err.Error()))
		return
	}
	fmt.Fprintf(x.tw, "ok\t%s\t%s\n", name, detail)
}

func (x *examination) hint(text string) { fmt.Fprintf(x.tw, "hint\t\t%s\n", text) }

// doctorPatience bounds what the doctor waits for one server.
const doctorPatience = 10 * time.Second

// Run checks what it can.
func (doctorCmd) Run(ctx context.Context, a *app) error {
	x := &examination{tw: tabwriter.NewWriter(a.out, 0, 4, 2, ' ', 0)}
	n, dir, store, err := a.openCatalog(ctx)
	x.check("network and data directory", err, n.Name+" in "+dir)
	if err == nil {
		x.check("disk", lowDisk(dir), "has room")
		err = errors.Join(x.engines(ctx, a, n, dir, store), x.sources(ctx, n, store), store.Close())
	}
	if flushErr := x.tw.Flush(); flushErr != nil {
		return flushErr
	}
	if x.failed > 0 {
		return fmt.Errorf("%d of the checks failed", x.failed)
	}
	return err
}

// engines checks model, engines and index.
func (x *examination) engines(ctx context.Context, a *app, n network.Network, dir string, store catalog.Store) error {
	lock, err := stack.TryLock(dir)
	if err != nil {
		return err
	}
	if lock == nil {
		x.check("index lock", nil, "held by another process, which writes the index")
	}
	free := lock != nil
	cfg, err := a.stackConfig(n, dir)
	cfg.Store, cfg.Embed.Pull = store, false
	var s *stack.Stack
	if err == nil {
		patient, cancel := context.WithTimeout(ctx, doctorPatience)
		s, err = stack.OpenReader(patient, cfg)
		cancel()
	}
	if err = errors.Join(err, lock.Unlock()); err != nil {
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
		x.check(name, call(patient), "answers at "+server)
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
	lag, _ := s.Follower.Lag()
	records, passages := s.Follower.Table().Size()
	x.check("index", nil, fmt.Sprintf("%d records in %d passages, %d changes behind; model %s", records, passages, lag, engines.Embedder.Model()))
	if lag > 0 && free {
		x.hint("the next `almanac serve` or `almanac search` indexes what is new")
	}
	return s.Close()
}

// sources checks the last sync of every source.
func (x *examination) sources(ctx context.Context, n network.Network, store catalog.Store) error {
	sources, err := store.Sources(ctx)
	x.check("sources", err, fmt.Sprintf("%d of %d synced", len(sources), len(n.Sources)))
	for _, st := range sources {
		x.check("source "+st.Name, sourceProblem(st, time.Now()), "synced "+st.LastSuccess.UTC().Format("2006-01-02 15:04"))
	}
	if len(sources) == 0 {
		x.hint("run `almanac sync`, or `almanac serve`, which syncs by itself")
	}
	return nil
}

// enoughDisk is what a sync and the index of a middle-sized network take.
const enoughDisk = 1 << 30

func lowDisk(dir string) error {
	var st syscall.Statfs_t
	if err := syscall.Statfs(dir, &st); err != nil {
		return fmt.Errorf("the file system of %s: %w", dir, err)
	}
	if free := st.Bavail * uint64(st.Bsize); free < enoughDisk {
		return fmt.Errorf("the file system of %s has %d MB left, of which a sync can need %d: make room, or move the data directory"+
			" (data.dir)", dir, free>>20, enoughDisk>>20)
	}
	return nil
}

func sourceProblem(st catalog.SourceState, now time.Time) error {
	switch {
	case st.Error != "":
		return errors.New(st.Error)
	case st.Stale(now):
		return fmt.Errorf("last synced %s, which is longer ago than its %v: is a serve running, or a sync due?", st.LastSuccess.UTC().Format("2006-01-02 15:04"), st.Freshness)
	}
	return nil
}
