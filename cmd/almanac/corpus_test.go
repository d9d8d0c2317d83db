package main

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"almanac/testing/race"
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

// total is the number of rows that a list has in all.
func (s *server) total(tb testing.TB, path string) int {
	tb.Helper()
	return getJSON[struct{ Total int }](tb, s, path).Total
}

// TestTheCorpusPresetServesAWholeSnapshot counts what a snapshot of known
// content leads to.
func TestTheCorpusPresetServesAWholeSnapshot(t *testing.T) {
	race.Skip(t)
	if testing.Short() {
		t.Skip("indexes a whole snapshot; not with -short")
	}
	t.Parallel()
	at := site{fixture{network: "corpus"}, t.TempDir(),
		environ(t.TempDir(), "ALMANAC_CORPUS="+sharedCorpus(t), "ALMANAC_LIMIT_REST=0")}
	s := at.serve(t)
	s.ready(t)
	type row struct {
		ID    string
		Draft bool
	}
	var numbered, drafts int
	ids := map[string]bool{}
	for offset := 0; ; offset += 50 {
		page := getJSON[struct {
			Items []row
			Total int
		}](t, s, fmt.Sprintf("/api/v1/cips?limit=50&offset=%d", offset))
		if page.Total != 149 {
			t.Fatalf("/cips counts %d", page.Total)
		}
		for _, r := range page.Items {
			ids[r.ID] = true
			if r.Draft {
				drafts++
			} else {
				numbered++
			}
		}
		if len(page.Items) == 0 {
			break
		}
	}
	if numbered != 109 || drafts != 40 || len(ids) != 149 {
		t.Errorf("%d numbered and %d drafts, %d ids", numbered, drafts, len(ids))
	}
	if n := s.total(t, "/api/v1/docs?limit=1"); n < 1490 {
		t.Errorf("%d docs", n)
	}
	if n := s.total(t, "/api/v1/proposals?limit=1&state=all"); n != 376 {
		t.Errorf("%d proposals without a parent", n)
	}
	sources := getJSON[struct {
		Sources []struct {
			Type  string
			Count int
			Names []string
		}
	}](t, s, "/api/v1/sources")
	var types []string
	for _, row := range sources.Sources {
		types = append(types, row.Type)
		if row.Type == "release" && row.Count < 300 {
			t.Errorf("%d releases", row.Count)
		}
	}
	for _, want := range []string{"cip", "attachment", "proposal", "doc", "release", "repo"} {
		if !slices.Contains(types, want) {
			t.Errorf("no source of %s in %v", want, types)
		}
	}
	if code := s.stop(t); code != 0 {
		t.Errorf("exit code %d", code)
	}
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
