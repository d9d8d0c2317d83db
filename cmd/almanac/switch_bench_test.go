package main

import (
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"almanac/embed/transformer"
	"almanac/retrieval/eval"
)

// BenchmarkModelChange measures what a change of the embedding model costs in
// memory: the program's largest resident set while it answers 50 searches a
// second over the real corpus, before the change, until the new index is
// complete, and when the old one is gone.
func BenchmarkModelChange(b *testing.B) {
	corpus, queries := realCorpus(b)
	for b.Loop() {
		at := servedCorpus(b, corpus)
		peak := func(s *server, phase string, until func() bool) {
			if err := os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", s.cmd.Process.Pid), []byte("5"), 0); err != nil {
				b.Skip(err) // not Linux
			}
			searches := s.asking(b, queries)
			for end := time.Now().Add(10 * time.Second); time.Now().Before(end) || !until(); {
				time.Sleep(100 * time.Millisecond)
			}
			searches.stop()
			b.ReportMetric(largest(b, s), phase+"-MB")
		}
		s := at.serve(b)
		ready := s.ready(b)
		b.ReportMetric(float64(ready.Passages), "passages")
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
	corpus, queries := realCorpus(b)
	if !transformer.Fast() {
		b.Skip("this processor is too slow for the transformer")
	}
	for b.Loop() {
		at := servedCorpus(b, corpus)
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
		b.ReportMetric(largest(b, s), "after-MB")
		s.stop(b)
	}
}

// waits searches, each time for something new, so that no model knows the query's vector.
func waits(b *testing.B, s *server, phase string, queries []string) {
	b.Helper()
	var took []time.Duration
	for n := range 1200 {
		began := time.Now()
		status, _, body := s.get(b, fmt.Sprintf("/api/v1/search?limit=10&q=%s",
			url.QueryEscape(fmt.Sprintf("%s %d", queries[n%len(queries)], n))))
		if took = append(took, time.Since(began)); status != http.StatusOK {
			b.Fatalf("status %d: %s", status, body)
		}
	}
	took = took[200:] // of a process that is warm
	slices.Sort(took)
	for p, name := range map[int]string{50: "p50", 99: "p99"} {
		b.ReportMetric(float64(took[len(took)*p/100].Microseconds())/1000, phase+"-"+name+"-ms")
	}
}

// embedding is the mean of the milliseconds that the vectors of a server's queries took.
func embedding(b *testing.B, s *server) float64 {
	b.Helper()
	_, _, body := do(b, http.MethodGet, s.admin+"/metrics")
	var sum, count float64
	for line := range strings.Lines(string(body)) {
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
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.cmd.Process.Pid))
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

// realCorpus returns the directory of the real corpus, and queries that were judged over it.
func realCorpus(b *testing.B) (dir string, queries []string) {
	b.Helper()
	shared := os.Getenv("ALMANAC_SHARED")
	if shared == "" {
		shared = filepath.Join("..", "..", "..", "shared")
	}
	if _, err := os.Stat(filepath.Join(shared, "corpus", "manifest.jsonl")); err != nil {
		b.Skipf("there is no corpus in %s: set ALMANAC_SHARED", shared)
	}
	dir, err := filepath.Abs(filepath.Join(shared, "corpus"))
	if err != nil {
		b.Fatal(err)
	}
	collection, err := eval.Load(filepath.Join(shared, "judged", "network-dev"))
	if err != nil {
		b.Fatal(err)
	}
	for _, q := range collection.Queries {
		queries = append(queries, q.Text)
	}
	return dir, queries
}

func servedCorpus(b *testing.B, corpus string) site {
	b.Helper()
	return site{fixture{network: "corpus"}, filepath.Join(b.TempDir(), "data"),
		environ(b.TempDir(), "ALMANAC_CORPUS="+corpus, "ALMANAC_LIMIT_REST=0", "ALMANAC_SEARCH_DEADLINE=20s")}
}

// largest is a process's largest resident set in MB since it was last cleared.
func largest(b *testing.B, s *server) float64 {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	if err != nil {
		b.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		var kb int
		if n, _ := fmt.Sscanf(line, "VmHWM: %d kB", &kb); n == 1 {
			return float64(kb) / 1024
		}
	}
	b.Fatal("no VmHWM")
	return 0
}
