package main

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"almanac/catalog"
	"almanac/catalog/derive"
	"almanac/catalog/mention"
	"almanac/catalog/network"
	"almanac/catalog/sqlite"
	"almanac/ingest"
	"almanac/ingest/connectors"
	"almanac/retrieval/analysis"
	"almanac/retrieval/passage"
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

// stagesOf are what becomes of the text of a record, whoever wrote it. All run outside of what
// bounds a connector.
func stagesOf(t *testing.T) map[string]func(text string) {
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	store, err := sqlite.Open(t.Context(), sqlite.Config{Path: filepath.Join(t.TempDir(), "catalog.db"), Now: time.Now})
	must(err)
	t.Cleanup(func() { must(store.Close()) })
	of := network.Proposals{Prefix: "CWP", Statuses: []string{"Draft"}, Default: "Draft"}
	work := t.TempDir()
	data, err := catalog.Encode(catalog.Release{Version: "1.0.0"})
	must(err)
	return map[string]func(string){
		"prepare": func(text string) {
			hostile := ingest.Constructor(func(network.Source, ingest.Environment) (ingest.Connector[[]byte], error) {
				return putting{Kind: catalog.KindDoc, Key: "a", Title: "A", Container: "a/b", Body: text}, nil
			})
			must(ingest.New(ingest.Config{Store: store, Now: time.Now, Network: network.Network{Proposals: of}, WorkDir: work,
				Connectors: ingest.Registry{"hostile": hostile}}).Run(t.Context(),
				network.Source{Name: "hostile", Kind: "hostile"}).Err)
		},
		"derive": func(text string) {
			in := derive.Input{catalog.KindRelease: {{Record: catalog.Record{ID: 1, Kind: catalog.KindRelease,
				Key: "a/b@1.0.0", Title: "A 1.0.0", Body: text, Data: data,
				CreatedAt: time.Date(2040, 1, 1, 0, 0, 0, 0, time.UTC)}}}}
			for _, f := range derive.Facts {
				_, err := f.Make(t.Context(), in)
				must(err)
			}
			derive.TLDR(text)
		},
		"mention": func(text string) {
			mention.Names(of, "a/b", text)
			mention.Cited(of, text)
		},
		"passage": func(text string) {
			for _, p := range passage.Cut(passage.Source{Title: "A", Body: text}) {
				analysis.Analyze(p.Text)
				passage.EmbedText("A", p)
			}
		},
	}
}

// putting is a connector of one record.
type putting catalog.Record

func (p putting) Sync(ctx context.Context, _ []byte, out ingest.Sink) ([]byte, ingest.Outcome, error) {
	return nil, ingest.Outcome{Complete: true}, out.Put(ctx, catalog.Entry{Record: catalog.Record(p)})
}

// TestEveryStageIsLinear: whatever the shape of a text, twice as much of it takes each stage
// at most two and a half times as long. That is a ratio of processor time within one run,
// the best of some tries: four times would be a quadratic step. Every fifth stage of a text is
// measured, in `make soak` all.
func TestEveryStageIsLinear(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a minute")
	}
	const (
		least = 20 * time.Millisecond // of a time that is worth comparing
		ratio = 2.5
		tries = 6
	)
	stages := stagesOf(t)
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // it takes its time when it is due, whatever the size
	for i, text := range hostile.Texts() {
		for j, stage := range slices.Sorted(maps.Keys(stages)) {
			if !soak.Turn(i*len(stages) + j) {
				continue
			}
			do := stages[stage]
			takes := func(size int) time.Duration {
				made := text.Make(size)
				runtime.GC()
				began := ownTime(t)
				do(made)
				return ownTime(t) - began
			}
			size := 16 << 10
			half, whole := takes(size/2), takes(size)
			for whole < least && size < ingest.MaxText {
				size *= 2
				half, whole = whole, takes(size)
			}
			for range tries {
				if float64(whole) <= ratio*float64(half) {
					break
				}
				half, whole = min(half, takes(size/2)), min(whole, takes(size))
			}
			t.Logf("%s of %s: %v for %d kB, %v for %d kB", stage, text.Name, half, size>>11, whole, size>>10)
			if whole >= least && float64(whole) > ratio*float64(half) {
				t.Errorf("%s of %s: %v for %d bytes, %v for half of them", stage, text.Name, whole, size, half)
			}
		}
	}
}

// ownTime is the time that this process has had of all processors.
func ownTime(t *testing.T) time.Duration {
	t.Helper()
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		t.Fatal(err)
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
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
		case <-time.After(200 * time.Millisecond): // the kernel keeps the most that a process has had
		}
		r.MB = max(r.MB, s.memory("VmHWM"), s.children())
	}
	s.indexed(tb)
	r.MB = max(r.MB, s.memory("VmHWM"))
	r.seconds = time.Since(start).Seconds()
	for i := range all {
		r.outcome = append(r.outcome, shorten(ended[fmt.Sprintf("hostile-%d", i)]))
	}
	if s.stop(tb); r.MB >= 1024 {
		tb.Errorf("at most %d MB", r.MB)
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
