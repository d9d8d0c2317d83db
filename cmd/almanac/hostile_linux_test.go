package main

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"almanac/ingest/connectors"
	"almanac/testing/hostile"
	"almanac/testing/soak"
)

// BenchmarkHostile serves every hostile source by a program of its own, in the
// memory of the smallest container, and prints its peak memory, its time and its
// result: the tables of docs/security.md.
func BenchmarkHostile(b *testing.B) {
	for _, h := range hostile.Sources(b, 20) {
		b.Run(strings.NewReplacer(" ", "-", ",", "").Replace(h.Name), func(b *testing.B) {
			for range b.N {
				r := serveHostile(b, h)
				b.ReportMetric(float64(r.MB), "MB")
				b.ReportMetric(r.seconds, "s")
				fmt.Printf("| %s | %s | %d MB, %.1f s | %s |\n", h.Kind, h.Name, r.MB, r.seconds, r.outcome[0])
			}
		})
	}
}

// TestServesHostileSources: one program reads them all, in the memory of the smallest
// container, and answers. Long ones it reads in `make soak` alone.
func TestServesHostileSources(t *testing.T) {
	if testing.Short() {
		t.Skip("takes minutes")
	}
	t.Parallel()
	all := hostile.Sources(t, 1)
	for kind := range connectors.All(time.Time{}) {
		if kind != connectors.Sample && !slices.ContainsFunc(all, func(h hostile.Source) bool { return h.Kind == kind }) {
			t.Errorf("no source of kind %s is hostile", kind)
		}
	}
	if soak.Rounds(2) < 2 {
		all = slices.DeleteFunc(all, func(h hostile.Source) bool { return h.Long })
	}
	r := serveHostile(t, all...)
	t.Logf("at most %d MB, %.1f s", r.MB, r.seconds)
	for i, outcome := range r.outcome {
		t.Logf("%s: %s", all[i].Name, outcome)
	}
}

// served is what became of a program that read sources.
type served struct {
	MB      int // at most, of it or of a git that it started
	seconds float64
	outcome []string // of each source
}

// serveHostile starts a program on a network of the sources, in a cgroup of a
// gibibyte where one can be made, and waits until each has been read and what they
// gave is indexed. It must never have had more than a gibibyte.
func serveHostile(tb testing.TB, all ...hostile.Source) (r served) {
	tb.Helper()
	dir := tb.TempDir()
	n := map[string]any{"name": "causeway", "title": "Causeway", "proposals": map[string]any{"prefix": "CWP",
		"default": "Draft", "statuses": []string{"Draft"}}}
	var list []map[string]any
	for i, h := range all {
		list = append(list, map[string]any{"name": fmt.Sprintf("hostile-%d", i), "kind": h.Kind,
			"options": h.Start(tb, filepath.Join(dir, strconv.Itoa(i)))})
	}
	n["sources"] = list
	text, err := yaml.Marshal(n)
	if err != nil {
		tb.Fatal(err)
	}
	file, data := filepath.Join(dir, "causeway.yaml"), filepath.Join(tb.TempDir(), "data")
	writeFile(tb, file, string(text))
	start := time.Now()
	s := startProgram(tb, environ(tb.TempDir(), "ALMANAC_SYNC_ALLOW=127.0.0.0/8",
		"CAUSEWAY_FORGE_TOKEN=fiction"), confined(tb, program(tb)),
		"--network", file, "--data", data)
	ended := map[string]string{}
	for len(ended) < len(all) { // as long as it takes: the test's own timeout is the bound
		select {
		case line := <-s.log.lines:
			if line.Source != "" && (line.Msg == "synced" || line.Msg == "sync failed") {
				ended[line.Source] = cmp.Or(line.Error, fmt.Sprintf("%d records, %d skipped", line.Created, line.Skipped))
			}
		case <-s.exited:
			tb.Fatalf("the program ended with %d after %d MB", s.exitCode, r.MB)
		case <-time.After(20 * time.Millisecond):
		}
		r.MB = max(r.MB, s.memory("VmHWM"), s.children())
	}
	s.indexed(tb)
	r.MB = max(r.MB, s.memory("VmHWM"))
	r.seconds = time.Since(start).Seconds()
	for i := range all {
		r.outcome = append(r.outcome, shorten(ended[fmt.Sprintf("hostile-%d", i)]))
	}
	if code := s.stop(tb); code != 0 || r.MB >= 1024 {
		tb.Errorf("at most %d MB, ended with %d", r.MB, code)
	}
	return r
}

// shorten keeps what an outcome says of the cause, on one line.
func shorten(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if runes := []rune(s); len(runes) > 110 {
		return string(runes[:110]) + "…"
	}
	return s
}
