package retrieval_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"almanac/catalog"
	"almanac/catalog/sqlite"
	"almanac/ingest"
	"almanac/ingest/networks"
	"almanac/ingest/snapshot"
	"almanac/retrieval"
	"almanac/retrieval/eval"
	"almanac/testing/scale"
)

// shared is the directory of test collections next to the repository.
func shared(b *testing.B) string {
	b.Helper()
	dir := os.Getenv("ALMANAC_SHARED")
	if dir == "" {
		dir = filepath.Join("..", "..", "shared")
	}
	if _, err := os.Stat(filepath.Join(dir, "corpus", "manifest.jsonl")); err != nil {
		b.Skipf("there is no corpus in %s: set ALMANAC_SHARED", dir)
	}
	return dir
}

// corpusEngine indexes the real corpus through the pipeline.
func corpusEngine(b *testing.B, dir string, options ...option) *fixture {
	b.Helper()
	ctx := b.Context()
	data := b.TempDir()
	store, err := sqlite.Open(ctx, sqlite.Config{Path: filepath.Join(data, "catalog.db"), Now: time.Now})
	if err != nil {
		b.Fatal(err)
	}
	n, err := networks.Load("corpus")
	if err != nil {
		b.Fatal(err)
	}
	p := ingest.New(ingest.Config{Store: store, Network: n, Connectors: ingest.Kinds(snapshot.Kind),
		Now: time.Now, WorkDir: b.TempDir(),
		CorpusDir: filepath.Join(dir, "corpus")})
	if _, err := p.Sync(ctx, nil); err != nil {
		b.Fatal(err)
	}
	if err := store.Close(); err != nil {
		b.Fatal(err)
	}
	f := open(b, data, options...)
	f.index(b)
	return f
}

// BenchmarkSearch measures a page of ten over the real corpus with the
// queries of every judged collection: the time of each search, its
// percentiles, and where it goes; also without engines, and while a sync writes.
func BenchmarkSearch(b *testing.B) {
	dir := shared(b)
	f := corpusEngine(b, dir)
	var queries []string
	for _, name := range []string{"network-dev", "scifact", "eips-known-item", "vendor-docs-rag", "cosqa"} {
		c, err := eval.Load(filepath.Join(dir, "judged", name))
		if err != nil {
			b.Fatal(err)
		}
		for _, q := range c.Queries {
			queries = append(queries, q.Text)
		}
	}
	b.Run("engines=away", func(b *testing.B) {
		benchmarkSearches(b, corpusEngine(b, dir, serversAway), queries, "default")
	})
	for _, name := range []string{"default", "rrf", "keyword", "passages", "dense"} {
		b.Run("profile="+name, func(b *testing.B) { benchmarkSearches(b, f, queries, name) })
	}
	b.Run("while=syncing", func(b *testing.B) {
		defer syncing(b, f, filepath.Join(dir, "corpus"))()
		benchmarkSearches(b, f, queries, "default")
	})
}

// benchmarkSearches searches with the queries by turns.
func benchmarkSearches(b *testing.B, f *fixture, queries []string, profile string) {
	r := retrieval.Request{Profile: profile, Diversify: true}
	var took []time.Duration
	stages := map[string]time.Duration{}
	i := 0
	for b.Loop() {
		r.Query = queries[i%len(queries)]
		start := time.Now()
		res, err := f.engine.Search(context.Background(), r)
		took = append(took, time.Since(start))
		if err == nil {
			for stage, d := range res.Timings {
				stages[stage] += d
			}
		}
		i++
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
	for stage, d := range stages {
		b.ReportMetric(float64(d.Microseconds())/1000/float64(len(took)), stage+"-ms")
	}
}

// syncing writes 200 records a second and indexes them, until it is stopped:
// new ones first, and then other editions of them.
func syncing(b *testing.B, f *fixture, corpus string) (stop func()) {
	b.Helper()
	texts, err := scale.ReadTexts(corpus)
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := f.follower.Run(ctx); err != nil {
			b.Error(err)
		}
	})
	wg.Go(func() {
		tick := time.NewTicker(100 * time.Millisecond)
		defer tick.Stop()
		for n := 0; ; n += 20 {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			var entries []catalog.Entry
			for i := range 20 {
				entries = append(entries, texts.Record((n+i)%2000, n/2000))
			}
			if _, err := f.store.Apply(ctx, catalog.Batch{Source: "scale", Entries: entries}); err != nil &&
				ctx.Err() == nil {
				b.Error(err)
				return
			}
		}
	})
	return func() {
		cancel()
		wg.Wait()
	}
}
