package main

import (
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"almanac/embed/transformer"
	"almanac/retrieval/eval"
	"almanac/testing/postgrestest"
)

// shared is the directory with the real corpus and with judged collections.
func shared(b *testing.B) string {
	b.Helper()
	dir := os.Getenv("ALMANAC_SHARED")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared") // beside the repository
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		b.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "corpus", "manifest.jsonl")); err != nil {
		b.Skipf("there is no corpus in %s: set ALMANAC_SHARED", dir)
	}
	return dir
}

// servedCorpus is the network of the real corpus, and queries that were judged over it.
func servedCorpus(b *testing.B, settings ...string) (at site, queries []string) {
	b.Helper()
	dir := shared(b)
	collection, err := eval.Load(filepath.Join(dir, "judged", "network-dev"))
	if err != nil {
		b.Fatal(err)
	}
	for _, q := range collection.Queries {
		queries = append(queries, q.Text)
	}
	settings = append(settings, "ALMANAC_CORPUS="+filepath.Join(dir, "corpus"), "ALMANAC_LIMIT_REST=0",
		"ALMANAC_SEARCH_DEADLINE=20s")
	return site{fixture{network: "corpus"}, filepath.Join(b.TempDir(), "data"), environ(b.TempDir(), settings...)}, queries
}

func searchFor(query string) request {
	return request{http.MethodGet, "/api/v1/search?limit=10&q=" + url.QueryEscape(query), nil}
}

// BenchmarkServe measures the program over the real corpus: the first start
// (sync, cutting, embedding, indexing), the second, resident memory, and
// searches over HTTP from eight clients.
func BenchmarkServe(b *testing.B) {
	at, queries := servedCorpus(b)
	began := time.Now()
	s := at.serve(b)
	s.ready(b)
	first := time.Since(began)
	s.stop(b)
	began = time.Now()
	s = at.serve(b, "ALMANAC_SYNC=off") // so that searches have the processors
	s.ready(b)
	second := time.Since(began)
	flood(b, func(n int) request { return searchFor(queries[n%len(queries)]) }, s.base)
	b.ReportMetric(first.Seconds(), "first-start-s")
	b.ReportMetric(second.Seconds(), "second-start-s")
	b.ReportMetric(float64(s.memory("VmRSS")), "resident-MB")
}

// BenchmarkInterfaces measures what each interface costs over loopback, with
// operations that do little, on the sample network.
func BenchmarkInterfaces(b *testing.B) {
	s := start(b, environ(b.TempDir(), "ALMANAC_LIMIT_REST=0", "ALMANAC_LIMIT_MCP=0"), "--data", b.TempDir())
	s.ready(b)
	for _, c := range []struct {
		name string
		request
	}{
		{"tools/list", rpc("tools/list", "{}")},
		{"light call", rpc("tools/call", `{"name":"get_cip_attachments","arguments":{"id":"1"}}`)},
		{"list", request{http.MethodGet, "/api/v1/cips", nil}},
		{"search", rpc("tools/call", `{"name":"search","arguments":{"query":"balance","limit":5}}`)},
	} {
		b.Run(c.name, func(b *testing.B) { flood(b, func(int) request { return c.request }, s.base) })
	}
}

// flood sends b.N requests from eight clients and reports rate and latencies.
func flood(b *testing.B, of func(n int) request, base string) {
	b.Helper()
	const clients = 8
	// Clients share the processors with the server: what they would spend on compression it would not have.
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: clients, DisableCompression: true}}
	defer client.CloseIdleConnections()
	var next atomic.Int64
	var mu sync.Mutex // guards took
	var took []time.Duration
	b.ResetTimer()
	began := time.Now()
	var wg sync.WaitGroup
	for range clients {
		wg.Go(func() {
			for n := next.Add(1); n <= int64(b.N); n = next.Add(1) {
				t := time.Now()
				if status, problem := send(b.Context(), client, base, of(int(n)), ""); status != http.StatusOK ||
					problem != "" {
					b.Errorf("status %d %s", status, problem)
					return
				}
				mu.Lock()
				took = append(took, time.Since(t))
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	elapsed := time.Since(began)
	if b.Failed() || len(took) == 0 {
		return
	}
	b.ReportMetric(float64(len(took))/elapsed.Seconds(), "requests/s")
	percentiles(b, took, "")
}

// percentiles reports the median and the 99th percentile of durations.
func percentiles(b *testing.B, took []time.Duration, prefix string) {
	slices.Sort(took)
	for _, p := range []int{50, 99} {
		b.ReportMetric(float64(took[len(took)*p/100].Microseconds())/1000, fmt.Sprintf("%sp%d-ms", prefix, p))
	}
}

// BenchmarkCatalogs compares a catalog in a file with one in PostgreSQL on the same machine:
// the first sync of the corpus, and a page of ten results of a server.
func BenchmarkCatalogs(b *testing.B) {
	for name, database := range map[string]func(testing.TB) string{
		"file":       func(testing.TB) string { return "" },
		"PostgreSQL": postgrestest.Database,
	} {
		b.Run(name+"/sync", func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				at, _ := servedCorpus(b, "ALMANAC_CATALOG_URL="+database(b))
				b.StartTimer()
				at.run(b, "sync")
			}
		})
		b.Run(name+"/page", func(b *testing.B) {
			at, queries := servedCorpus(b, "ALMANAC_CATALOG_URL="+database(b))
			s := at.serve(b)
			s.ready(b)
			for n := 0; b.Loop(); n++ {
				if status, problem := send(b.Context(), client, s.base, searchFor(queries[n%len(queries)]), ""); problem != "" {
					b.Fatal(status, problem)
				}
			}
		})
	}
}

// BenchmarkModelChange measures what a change of the embedding model costs in
// memory: the program's largest resident set while it answers searches over
// the real corpus, before the change, until the new index is complete, and
// when the old one is gone.
func BenchmarkModelChange(b *testing.B) {
	for b.Loop() {
		at, queries := servedCorpus(b)
		peak := func(s *server, phase string, until func() bool) {
			s.forgetPeak(b)
			searches := s.asking(b, queries)
			for end := time.Now().Add(10 * time.Second); time.Now().Before(end) || !until(); {
				time.Sleep(100 * time.Millisecond)
			}
			searches.stop()
			b.ReportMetric(float64(s.memory("VmHWM")), phase+"-MB")
		}
		s := at.serve(b)
		b.ReportMetric(float64(s.ready(b).Passages), "passages")
		peak(s, "before", func() bool { return true })
		s.stop(b)
		model := newModelServer(b, nil)
		s = at.serve(b, append(model.settings(), "ALMANAC_SEARCH_PROFILE=default")...)
		s.ready(b)
		peak(s, "change", func() bool { return strings.HasPrefix(s.model(b), "buoy-talk") })
		peak(s, "after", func() bool { return true })
		s.stop(b)
	}
}

// BenchmarkTakeOver measures the default model over the real corpus, with a client that
// searches without a pause: the median and the 99th percentile of its waits by the table,
// while the transformer's index is built beside it, and by the transformer, with the mean
// of what the vectors of the queries take; the processor time of that index, from what is
// left of it after the searches; and the largest resident set afterwards.
func BenchmarkTakeOver(b *testing.B) {
	if !transformer.Fast() {
		b.Skip("this processor is too slow for the transformer")
	}
	for b.Loop() {
		at, queries := servedCorpus(b)
		table := at.serve(b)
		passages := table.ready(b).Passages
		b.ReportMetric(processor(b, table), "start-s")
		waits(b, table, "table", queries)
		table.stop(b)

		s := at.serve(b, "ALMANAC_EMBED_MODEL=auto")
		s.ready(b)
		waits(b, s, "filling", queries)
		done, used := embedded(b, s), processor(b, s)
		for s.model(b) != transformer.Model {
			time.Sleep(time.Second)
		}
		b.ReportMetric((processor(b, s)-used)/float64(passages-done)*float64(passages), "fill-s")
		s.stop(b)

		s = at.serve(b, "ALMANAC_EMBED_MODEL=auto")
		s.ready(b)
		b.ReportMetric(processor(b, s), "again-s")
		waits(b, s, "after", queries)
		b.ReportMetric(embedding(b, s), "after-embed-ms")
		b.ReportMetric(float64(s.memory("VmHWM")), "after-MB")
		s.stop(b)
	}
}

// waits searches, each time for something new, so that no model knows the query's vector.
func waits(b *testing.B, s *server, phase string, queries []string) {
	b.Helper()
	var took []time.Duration
	for n := range 1200 {
		began := time.Now()
		r := searchFor(fmt.Sprintf("%s %d", queries[n%len(queries)], n))
		if status, problem := send(b.Context(), client, s.base, r, ""); problem != "" {
			b.Fatal(status, problem)
		}
		took = append(took, time.Since(began))
	}
	percentiles(b, took[200:], phase+"-") // of a process that is warm
}

// embedding is the mean of the milliseconds that the vectors of a server's queries took.
func embedding(b *testing.B, s *server) float64 {
	b.Helper()
	_, _, body := do(b, http.MethodGet, s.admin+"/metrics")
	var sum, count float64
	for line := range strings.Lines(body) {
		const series = "almanac_search_stage_duration_seconds_"
		_, _ = fmt.Sscanf(line, series+`sum{stage="embed"} %g`, &sum)
		_, _ = fmt.Sscanf(line, series+`count{stage="embed"} %g`, &count)
	}
	if count == 0 {
		b.Fatal("no query was embedded")
	}
	return sum / count * 1000
}

// embedded is how many passages have a vector in the index that is built.
func embedded(b *testing.B, s *server) int {
	b.Helper()
	next := getJSON[struct {
		Index struct{ Next *struct{ Embedded int } }
	}](b, s, "/status").Index.Next
	if next == nil {
		b.Fatal("no index is built")
	}
	return next.Embedded
}

// processor is the time that a process has taken of processors, in seconds.
func processor(b *testing.B, s *server) float64 {
	b.Helper()
	stat, err := os.ReadFile(s.proc("stat"))
	if err != nil {
		b.Skip(err) // not Linux
	}
	_, after, _ := strings.Cut(string(stat), ") ")
	var user, system float64
	fields := strings.Fields(after)
	if _, err := fmt.Sscan(fields[11]+" "+fields[12], &user, &system); err != nil {
		b.Fatal(err)
	}
	return (user + system) / 100 // ticks of Linux's interface, on every machine
}
