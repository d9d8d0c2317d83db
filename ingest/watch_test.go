package ingest_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"almanac/catalog/network"
	"almanac/catalog/sqlite"
	"almanac/ingest"
)

// pier is a source of a directory.
type pier struct {
	Dir string `yaml:"dir" format:"path"`
}

// moored counts its runs.
type moored struct{ runs *atomic.Int64 }

func (m moored) Sync(context.Context, struct{}, ingest.Sink) (struct{}, ingest.Outcome, error) {
	m.runs.Add(1)
	return struct{}{}, ingest.Outcome{}, nil
}

// TestWhatChangesOnThisMachineIsRead changes a folder and a repository beside a
// scheduler that would not run again by itself.
func TestWhatChangesOnThisMachineIsRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		write := func(name, text string) {
			path := filepath.Join(dir, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		write("pages/a.md", "# A")
		for _, name := range []string{"HEAD", "objects/aa/bb", "refs/heads/main"} {
			write("bare/"+name, "first")
		}
		store, err := sqlite.Open(t.Context(), sqlite.Config{Path: filepath.Join(t.TempDir(), "catalog.db"), Now: time.Now})
		if err != nil {
			t.Fatal(err)
		}
		runs := map[string]*atomic.Int64{"pages": {}, "bare": {}}
		text := "name: quay\ntitle: Quay\nproposals: {prefix: QIP, statuses: [Draft], default: Draft}\nsources:\n"
		registry := ingest.Registry{}
		for name, counted := range runs {
			text += fmt.Sprintf("  - {name: %s, kind: %[1]s, options: {dir: %q}}\n", name, filepath.Join(dir, name))
			registry[name] = ingest.Kind[pier, struct{}]{Name: name,
				Open: func(pier, ingest.Environment) (ingest.Connector[struct{}], error) { return moored{counted}, nil }}
		}
		n, err := network.Parse("quay.yaml", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		sched := ingest.NewScheduler(ingest.New(ingest.Config{Store: store, Network: n, Now: time.Now,
			WorkDir: t.TempDir(), Connectors: registry}))
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { sched.Run(ctx); close(done) }()
		defer func() {
			stop()
			<-done
			if err := store.Close(); err != nil {
				t.Error(err)
			}
		}()
		for i, step := range []struct {
			name, file, text string
			pages, bare      int64
		}{
			{"nothing", "elsewhere/x", "y", 1, 1},
			{"a page changes", "pages/a.md", "# A, twice", 2, 1},
			{"a page comes", "pages/below/b.md", "# B", 3, 1},
			{"what no page is", "pages/.git/index", "x", 3, 1},
			{"objects", "bare/objects/cc/dd", "second", 3, 1},
			{"a branch", "bare/refs/heads/main", "second", 3, 2},
		} {
			if i > 0 {
				synctest.Wait()
			}
			write(step.file, step.text)
			time.Sleep(time.Minute)
			synctest.Wait()
			if p, b := runs["pages"].Load(), runs["bare"].Load(); p != step.pages || b != step.bare {
				t.Errorf("%s: %d and %d runs, want %d and %d", step.name, p, b, step.pages, step.bare)
			}
		}
	})
}
