package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"almanac/retrieval/eval"
)

// BenchmarkModelChange measures what a change of the embedding model costs in
// memory: the program's largest resident set while it answers 50 searches a
// second over the real corpus, before the change, until the new index is
// complete, and when the old one is gone.
func BenchmarkModelChange(b *testing.B) {
	shared := os.Getenv("ALMANAC_SHARED")
	if shared == "" {
		shared = filepath.Join("..", "..", "..", "shared")
	}
	if _, err := os.Stat(filepath.Join(shared, "corpus", "manifest.jsonl")); err != nil {
		b.Skipf("there is no corpus in %s: set ALMANAC_SHARED", shared)
	}
	corpus, err := filepath.Abs(filepath.Join(shared, "corpus"))
	if err != nil {
		b.Fatal(err)
	}
	collection, err := eval.Load(filepath.Join(shared, "judged", "network-dev"))
	if err != nil {
		b.Fatal(err)
	}
	var queries []string
	for _, q := range collection.Queries {
		queries = append(queries, q.Text)
	}
	for b.Loop() {
		at := site{fixture{network: "corpus"}, filepath.Join(b.TempDir(), "data"),
			environ(b.TempDir(), "ALMANAC_CORPUS="+corpus, "ALMANAC_LIMIT_REST=0", "ALMANAC_SEARCH_DEADLINE=20s")}
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
