package docs_test

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"almanac/catalog"
	"almanac/catalog/network"
	"almanac/ingest"
	"almanac/ingest/docs"
	"almanac/ingest/snapshot"
	"almanac/testing/gitrepotest"
	"almanac/testing/race"
	"almanac/text/options"
)

// shared returns the path of real material: in ALMANAC_SHARED, or next to the
// repository.
func shared(t testing.TB, parts ...string) string {
	t.Helper()
	race.Skip(t)
	if testing.Short() {
		t.Skip("reads thousands of pages")
	}
	dir := os.Getenv("ALMANAC_SHARED")
	if dir == "" {
		wd, err := os.Getwd()
		if err != nil {
			t.Fatal(err)
		}
		dir = filepath.Join(wd, "..", "..", "..", "shared")
	}
	name := filepath.Join(append([]string{dir}, parts...)...)
	if _, err := os.Stat(name); err != nil {
		t.Skipf("%s is missing; set ALMANAC_SHARED to the directory that has it", name)
	}
	return name
}

// keeper is a Sink that keeps records.
type keeper struct {
	sink
	records map[string]catalog.Record
}

func (k *keeper) Put(_ context.Context, e catalog.Entry) error {
	k.records[e.Record.Key] = e.Record
	return nil
}

func (k *keeper) Skip(string, error) {}

// TestRealPages reads thousands of real pages from a repository and requires the
// records that the snapshot connector makes from the same files.
func TestRealPages(t *testing.T) {
	file := shared(t, "corpus", "manifest.jsonl")
	dir := filepath.Dir(file)
	manifest, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = manifest.Close() }()
	tree := map[string]string{}
	for lines := bufio.NewScanner(manifest); lines.Scan(); {
		var row struct{ Path string }
		if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
			t.Fatal(err)
		}
		rest, ok := strings.CutPrefix(row.Path, "docs/")
		if !ok {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, row.Path))
		if err != nil {
			t.Fatal(err)
		}
		tree[rest] = string(text)
	}
	repo := gitrepotest.New(t)
	repo.Import("all", tree)

	want := read(t, snapshot.Kind, map[string]any{"dir": dir, "content_types": map[string]any{"doc_page": "doc"}})
	got := read(t, docs.Kind, map[string]any{"repository": map[string]any{"url": repo.Dir}, "prefix": "docs"})
	if len(want) < 1000 {
		t.Fatalf("the snapshot has only %d pages", len(want))
	}
	for key, w := range want {
		g, ok := got[key]
		if !ok {
			t.Errorf("%s has no record", key)
			continue
		}
		shape := func(r catalog.Record) []any {
			d, err := catalog.Decode[catalog.Doc](r)
			if err != nil {
				t.Fatal(err)
			}
			return []any{r.Kind, r.Key, r.Title, r.Path, r.Body, r.Summary, r.Tags, d.Format, d.Description, d.Includes,
				d.Stub}
		}
		if diff := cmp.Diff(shape(w), shape(g)); diff != "" {
			t.Errorf("%s (-snapshot +docs)\n%s", key, diff)
		}
	}
	for key := range got {
		if _, ok := want[key]; !ok {
			t.Errorf("%s is not a page of the snapshot", key)
		}
	}
}

// TestARealHistory dates the files of a repository with thousands of commits,
// merges and renames.
func TestARealHistory(t *testing.T) {
	records := read(t, docs.Kind, map[string]any{
		"repository": map[string]any{"url": shared(t, "bundles", "cips.bundle")},
		"url":        "https://forge.example.org/{commit}/{source_path}",
	})
	if len(records) < 100 {
		t.Errorf("only %d pages", len(records))
	}
	for key, r := range records {
		if r.CreatedAt.IsZero() || r.UpdatedAt.Before(r.CreatedAt) || r.URL == "" {
			t.Errorf("%s: created %s, updated %s, %s", key, r.CreatedAt, r.UpdatedAt, r.URL)
		}
	}
}

// read runs a connector once.
func read(t *testing.T, kind ingest.AnyKind, given map[string]any) map[string]catalog.Record {
	t.Helper()
	c, err := ingest.Registry{"real": kind}.Connector(
		network.Source{Name: "real", Kind: "real", Options: options.Of(given)}, ingest.Environment{WorkDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	k, began := &keeper{records: map[string]catalog.Record{}}, time.Now()
	if _, err := c.Sync(t.Context(), "", k); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d pages in %s", len(k.records), time.Since(began))
	return k.records
}
