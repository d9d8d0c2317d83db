package retrieval_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"almanac/catalog/sqlite"
	"almanac/ingest"
	"almanac/ingest/networks"
	"almanac/ingest/snapshot"
	"almanac/retrieval"
	"almanac/retrieval/eval"
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
func corpusEngine(b *testing.B, dir string) *fixture {
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
	p := ingest.New(ingest.Config{Store: store, Network: n, Connectors: ingest.Registry{"snapshot": snapshot.Open},
		Now:       time.Now,
		CorpusDir: filepath.Join(dir, "corpus")})
	if _, err := p.Sync(ctx, nil); err != nil {
		b.Fatal(err)
	}
	if err := store.Close(); err != nil {
		b.Fatal(err)
	}
	f := open(b, data)
	f.index(b)
	return f
}

// BenchmarkSearch measures a page of ten over the real corpus with the
// queries of every judged collection: the time of each search, its
// percentiles, and where it goes.
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
	for _, name := range []string{"default", "rrf", "keyword", "passages", "dense"} {
		b.Run("profile="+name, func(b *testing.B) {
			var took []time.Duration
			stages := map[string]time.Duration{}
			i := 0
			for b.Loop() {
				start := time.Now()
				res, err := f.engine.Search(context.Background(),
					retrieval.Request{Query: queries[i%len(queries)], Profile: name, Explain: true, Diversify: true})
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
		})
	}
}
