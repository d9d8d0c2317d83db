package main

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// sharedCorpus is a large snapshot for the corpus preset, if there is one.
func sharedCorpus(tb testing.TB) string {
	tb.Helper()
	shared := os.Getenv("ALMANAC_SHARED")
	if shared == "" {
		shared = filepath.Join("..", "..", "..", "shared") // beside the repository
	}
	dir, err := filepath.Abs(filepath.Join(shared, "corpus"))
	if err != nil {
		tb.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "manifest.jsonl")); err != nil {
		tb.Skipf("no snapshot directory: set ALMANAC_SHARED to a directory with corpus/manifest.jsonl (%v)", err)
	}
	return dir
}

// BenchmarkSecondStart is the time from the start of a process to its
// readiness, over a whole snapshot that was indexed before.
func BenchmarkSecondStart(b *testing.B) {
	at := site{fixture{network: "corpus"}, b.TempDir(), environ(b.TempDir(), "ALMANAC_CORPUS="+sharedCorpus(b))}
	s := at.serve(b)
	s.ready(b)
	s.stop(b)
	for b.Loop() {
		s := at.serve(b)
		s.ready(b)
		b.StopTimer()
		if status, _, _ := s.get(b, "/health"); status != http.StatusOK ||
			strings.Contains(s.log.String(), `"level":"WARN"`) {
			b.Fatalf("health %d\n%s", status, s.log)
		}
		s.stop(b)
		b.StartTimer()
	}
}
