package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"almanac/catalog/sqlstore"
	"almanac/retrieval"
	"almanac/retrieval/eval"
	"almanac/retrieval/stack"
	"almanac/testing/scale"
)

// serve starts over what was built and searches it.
func (j job) serve(ctx context.Context) error {
	queries, err := j.queries()
	if err != nil {
		return err
	}
	texts, err := scale.ReadTexts(filepath.Join(j.shared, "corpus"))
	if err != nil {
		return err
	}
	start := time.Now()
	store, s, err := j.open(ctx, stack.Open)
	if err != nil {
		return err
	}
	report("start", "%s", seconds(time.Since(start)))
	debug.FreeOSMemory()
	records, _ := s.Follower.Corpus().Size()

	search := func(n int) error { return j.search(ctx, s.Searcher, queries, "", n) }
	if err := search(len(queries) / 4); err != nil { // loads what a start leaves on disk
		return err
	}
	report("memory while searching", "%d MB", resident("VmRSS")>>20)
	if err := j.search(ctx, s.Searcher, queries, "search, idle", j.searches); err != nil {
		return err
	}

	running, stop := context.WithCancel(ctx)
	var wg sync.WaitGroup
	var followed, synced error
	edition := int(time.Now().Unix())
	wg.Go(func() { followed = s.Follower.Run(running) })
	wg.Go(func() { synced = j.sync(running, store, texts, records, edition) })
	err = j.search(ctx, s.Searcher, queries, "search, while a sync writes", j.searches)
	report("memory while a sync writes", "%d MB", resident("VmRSS")>>20)
	stop()
	wg.Wait()
	if err := errors.Join(err, followed, synced); err != nil {
		return err
	}
	if err := s.CatchUp(ctx, true); err != nil { // and flush
		return err
	}

	before, start := written(), time.Now()
	if err := put(ctx, store, texts, records/2, records/2+1, edition+1); err != nil {
		return err
	}
	if err := s.CatchUp(ctx, true); err != nil {
		return err
	}
	report("one changed record", "%d KB written, %s", (written()-before)>>10, seconds(time.Since(start)))
	return errors.Join(s.Close(), store.Close())
}

// queries returns those of all judged collections.
func (j job) queries() ([]string, error) {
	var out []string
	for _, name := range []string{"network-dev", "scifact", "eips-known-item", "vendor-docs-rag", "cosqa"} {
		c, err := eval.Load(filepath.Join(j.shared, "judged", name))
		if err != nil {
			return nil, err
		}
		for _, q := range c.Queries {
			out = append(out, q.Text)
		}
	}
	return out, nil
}

// search searches n times, one after the other, and reports percentiles under a
// name; "": none.
func (j job) search(ctx context.Context, s retrieval.Searcher, queries []string, name string, n int) error {
	took := make([]time.Duration, n)
	stages := map[string]time.Duration{}
	for i := range took {
		start := time.Now()
		res, err := s.Search(ctx, retrieval.Request{Query: queries[i*7%len(queries)], Diversify: true, Explain: true})
		if err != nil && !errors.Is(err, retrieval.ErrBadQuery) {
			return err
		}
		took[i] = time.Since(start)
		for stage, d := range res.Timings {
			stages[stage] += d
		}
	}
	if name == "" {
		return nil
	}
	slices.Sort(took)
	at := func(share float64) float64 { return took[int(share*float64(n-1))].Seconds() * 1000 }
	report(name, "p50 %.1f ms, p90 %.1f ms, p99 %.1f ms, most %.1f ms", at(.5), at(.9), at(.99), at(1))
	var parts []string
	for stage, d := range stages {
		parts = append(parts, fmt.Sprintf("%s %.2f", stage, d.Seconds()*1000/float64(n)))
	}
	slices.Sort(parts)
	report("  stages, ms on average", "%v", parts)
	return nil
}

// sync writes changed records at an even rate until ctx ends.
func (j job) sync(ctx context.Context, store *sqlstore.Store, texts *scale.Texts, records, edition int) error {
	const each = 100 * time.Millisecond
	tick := time.NewTicker(each)
	defer tick.Stop()
	n := max(1, j.rate/int(time.Second/each))
	for from := 0; ; from = (from + n) % max(1, records-n) {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		if err := put(ctx, store, texts, from, from+n, edition); err != nil && ctx.Err() == nil {
			return err
		}
	}
}
