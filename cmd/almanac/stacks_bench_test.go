package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"almanac/catalog/datadir"
	"almanac/cmd/config"
	"almanac/cmd/terminal"
	"almanac/ingest/networks"
	"almanac/retrieval"
	"almanac/retrieval/eval"
	"almanac/retrieval/stack"
	"almanac/retrieval/workbench"
)

// BenchmarkStacks measures searches one after the other over more than 50,000
// passages: the real corpus together with the judged collections. It compares
// the engines in the program with those on servers, where ALMANAC_KEYWORD_URL,
// ALMANAC_VECTOR_URL or ALMANAC_EMBED_URL name some. own-p50-ms is the time of
// a search without what engines and embedder took of it.
func BenchmarkStacks(b *testing.B) {
	shared := shared(b)
	corpus := "ALMANAC_CORPUS=" + filepath.Join(shared, "corpus")
	b.Run("embedded", func(b *testing.B) { benchmarkStack(b, shared, []string{corpus}) })
	var servers []string
	for _, v := range os.Environ() {
		if strings.HasPrefix(v, "ALMANAC_KEYWORD_") || strings.HasPrefix(v, "ALMANAC_VECTOR_") ||
			strings.HasPrefix(v, "ALMANAC_EMBED_") {
			servers = append(servers, v)
		}
	}
	b.Run("servers", func(b *testing.B) {
		if servers == nil {
			b.Skip("ALMANAC_KEYWORD_URL, ALMANAC_VECTOR_URL and ALMANAC_EMBED_URL name no servers")
		}
		benchmarkStack(b, shared, append(servers, corpus))
	})
}

func benchmarkStack(b *testing.B, shared string, environ []string) {
	settings, origins, err := config.Load("", environ, nil)
	if err != nil {
		b.Fatal(err)
	}
	settings.Log.Level = "error"
	log := terminal.Logger(settings, "error", os.Stderr)
	a := &app{config: settings, origins: origins, environ: environ, out: io.Discard, err: io.Discard, log: log,
		lines: log}
	ctx := b.Context()
	n, err := networks.Load("corpus")
	if err != nil {
		b.Fatal(err)
	}
	cfg, err := a.stackConfig(n, b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	cfg.Temporary = true
	s, err := openLibrary(ctx, n, datadir.Catalog{Dir: cfg.Dir}, cfg, stack.Open)
	if err != nil {
		b.Fatal(err)
	}
	defer func() {
		if err := s.close(); err != nil {
			b.Error(err)
		}
	}()
	pipeline, err := a.pipeline(ctx, n, s.store, s.at.Dir, nil, false)
	if err != nil {
		b.Fatal(err)
	}
	if _, err := pipeline.Sync(ctx, nil); err != nil {
		b.Fatal(err)
	}
	var warm, queries []string
	for _, name := range []string{"network-dev", "scifact", "eips-known-item", "vendor-docs-rag", "cosqa"} {
		dir := filepath.Join(shared, "judged", name)
		collection, err := eval.Load(dir)
		if err != nil {
			b.Fatal(err)
		}
		for _, q := range collection.Queries[:min(100, len(collection.Queries))] {
			queries = append(queries, q.Text)
		}
		for _, q := range collection.Queries[min(100, len(collection.Queries)):min(400, len(collection.Queries))] {
			warm = append(warm, q.Text)
		}
		if name == "network-dev" {
			continue // its documents are the corpus
		}
		if err := workbench.Put(ctx, s.store, dir); err != nil {
			b.Fatal(err)
		}
	}
	if err := s.CatchUp(ctx, true); err != nil {
		b.Fatal(err)
	}
	_, passages := s.Follower.Corpus().Size()
	if passages < 50_000 {
		b.Fatalf("only %d passages", passages)
	}
	if cfg.Keyword.URL != "" || cfg.Vector.URL != "" {
		time.Sleep(settle)
	}
	b.Run("search", func(b *testing.B) { benchmarkSearches(b, s, warm, queries, passages) })
}

// settle is how long servers get to finish in the background what they put off
// while they were filled: merging segments, building graphs.
const settle = 90 * time.Second

// benchmarkSearches measures queries after others, which fill the caches of
// servers and connections and load into memory what a pause released.
func benchmarkSearches(b *testing.B, s *library, warm, queries []string, passages int) {
	var took, own, retrieve, cosines []time.Duration
	degraded := 0
	search := func(q string) {
		res, err := s.Searcher.Search(b.Context(), retrieval.Request{Query: q, Explain: true})
		if err != nil {
			b.Fatalf("%q: %v", q, err)
		}
		if len(res.Degraded) > 0 {
			degraded++
		}
		took = append(took, res.Took)
		retrieve, cosines = append(retrieve, res.Timings["retrieve"]), append(cosines, res.Timings["cosines"])
		own = append(own, res.Took-res.Timings["retrieve"]-res.Timings["cosines"]-res.Timings["cross-encoder"])
	}
	for _, q := range warm {
		_, _ = s.Searcher.Search(b.Context(), retrieval.Request{Query: q}) // the first may come too early
	}
	b.ResetTimer()
	for i := range b.N {
		search(queries[i%len(queries)])
	}
	b.StopTimer()
	b.ReportMetric(float64(passages), "passages")
	percentiles(b, took, "")
	percentiles(b, retrieve, "retrieve-")
	percentiles(b, cosines, "cosines-")
	percentiles(b, own, "own-")
	b.ReportMetric(float64(degraded), "degraded")
}
