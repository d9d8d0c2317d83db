package archive_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"almanac/catalog"
	"almanac/catalog/archive"
	"almanac/catalog/network"
	"almanac/catalog/sqlite"
	"almanac/catalog/sqlstore"
	"almanac/testing/catalogfile"
	"almanac/text/options"
)

var now = time.Date(2031, 6, 1, 12, 0, 0, 0, time.UTC)

var causeway = network.Network{
	Name: "causeway", Title: "Causeway Network",
	Proposals: network.Proposals{Prefix: "CWP", Statuses: []string{"Draft", "Final"}, Default: "Draft"},
	Sources: []network.Source{{Name: "docs", Kind: "site", Every: 90 * time.Minute,
		Options: options.Of(map[string]any{"url": "https://example.org"})}},
}

func open(t testing.TB) *sqlstore.Store {
	t.Helper()
	store, err := sqlite.Open(t.Context(), sqlite.Config{Path: filepath.Join(t.TempDir(), "catalog.db"),
		Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	return store
}

func apply(t testing.TB, store *sqlstore.Store, b catalog.Batch) {
	t.Helper()
	if _, err := store.Apply(t.Context(), b); err != nil {
		t.Fatal(err)
	}
}

// full is a catalog with something of everything.
func full(t testing.TB) *sqlstore.Store {
	t.Helper()
	store := open(t)
	page := func(key, body string) catalog.Record {
		return catalog.Record{Kind: catalog.KindDoc, Key: key, Title: "Page <" + key + ">", Body: body,
			Path: key + ".md", Tags: []string{"b", "a"}, CreatedAt: now.Add(-time.Hour + 1234*time.Microsecond),
			Views: 7, Votes: 3,
			Data: []byte(`{"format":"markdown","x":"\u2028"}`)}
	}
	apply(t, store, catalog.Batch{Source: "gone", Entries: []catalog.Entry{{Record: page("gone", "")}}})
	live, err := store.LiveKeys(t.Context(), "gone")
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range live {
		apply(t, store, catalog.Batch{Source: "gone", Delete: []int64{id}})
	}
	b := catalog.Batch{Source: "docs/all", Cursor: new("secret of this place")}
	for i := range 620 {
		b.Entries = append(b.Entries,
			catalog.Entry{Record: page(fmt.Sprint("p", i), strings.Repeat("Text with \"quotes\" & 世界.\n", i%40))})
	}
	b.Entries[3].Parent = catalog.Ref{Kind: catalog.KindDoc, Key: "p600"}
	b.Entries[5].Aliases = []string{"five", "fünf"}
	b.Entries[5].Links = []catalog.Link{{Relation: catalog.Cites,
		To: catalog.Ref{Kind: catalog.KindCIP, Key: "CWP-0007"}, Snippet: "…see 7…"}}
	b.Entries[6].Votes = []catalog.Vote{{Voter: "Mira", Choice: "in_favour", CastAt: now},
		{Voter: "Ode", Choice: "against", Reason: "too early"}}
	at := now.Add(-time.Hour)
	for _, key := range []string{"CWP-0002", "CWP-0001"} {
		ref := catalog.Ref{Kind: catalog.KindCIP, Key: key}
		b.Events = append(b.Events, catalog.Event{Ref: ref, Field: "status", At: at, To: "Draft"},
			catalog.Event{Ref: ref, Field: "status", At: at, From: "Draft", To: "Final"})
	}
	apply(t, store, b)
	apply(t, store, catalog.Batch{Source: "forge", Entries: []catalog.Entry{
		{Record: catalog.Record{Kind: catalog.KindDoc, Key: "p5"}, Aliases: []string{"cinq"},
			Links: []catalog.Link{{Relation: catalog.Mentions, To: catalog.Ref{Kind: catalog.KindDoc, Key: "p6"}}},
			Facts: &catalog.Facts{State: "open", Tags: []string{"label:<new>"}, Data: []byte(`{"x":null,"format":"<p>"}`)}},
		{Record: catalog.Record{Kind: catalog.KindIssue, Key: "causeway/node#1", Title: "Issue"}},
	}})
	for i := range 3 {
		if err := store.PutSnapshot(t.Context(), catalog.Snapshot{Series: catalog.SeriesMarket,
			CapturedAt: now.Add(time.Duration(i) * time.Minute), Data: []byte(`{"price_usd":1}`)}); err != nil {
			t.Fatal(err)
		}
	}
	if err := store.SetSource(t.Context(), catalog.SourceState{Name: "docs/all", Kind: "site", LastRun: now,
		LastSuccess: at, Error: "away", Skipped: 2, Freshness: time.Hour}); err != nil {
		t.Fatal(err)
	}
	return store
}

func export(t testing.TB, store *sqlstore.Store) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "corpus")
	if _, err := archive.Write(t.Context(), store, causeway, dir, func(int, int) {}); err != nil {
		t.Fatal(err)
	}
	return dir
}

// files are the contents of a corpus by path.
func files(t testing.TB, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	fsys := os.DirFS(dir)
	err := fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := fs.ReadFile(fsys, name)
		all[name] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestRoundTrip(t *testing.T) {
	dir := export(t, full(t))
	first := files(t, dir)
	for name, text := range first {
		if strings.Contains(text, "secret of this place") {
			t.Errorf("%s holds a cursor", name)
		}
	}
	n, err := archive.Network(os.DirFS(dir))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(causeway, n); diff != "" {
		t.Errorf("network (-want +got)\n%s", diff)
	}
	second := open(t)
	var told []int
	sum, err := archive.Read(t.Context(), second, os.DirFS(dir),
		func(done, total int) { told = append(told, done, total) })
	if err != nil {
		t.Fatal(err)
	}
	if want := (archive.Summary{Records: 621, Additions: 1, Events: 4, Snapshots: 3, Sources: 1}); sum != want {
		t.Errorf("summary %+v, want %+v", sum, want)
	}
	if len(told) != 2*621 || told[len(told)-2] != 621 || told[1] != 621 {
		t.Errorf("progress ends with %v", told[max(0, len(told)-4):])
	}
	if diff := cmp.Diff(first, files(t, export(t, second))); diff != "" {
		t.Errorf("a copy's export differs (-want +got)\n%s", diff)
	}
	r, err := second.Get(t.Context(), catalog.Ref{Kind: catalog.KindDoc, Key: "cinq"})
	if err != nil || r.Key != "p5" || r.State != "open" {
		t.Errorf("by an added alias, with added facts: %v %s, %v", r.Ref(), r.State, err)
	}
	if unfinished, err := archive.Unfinished(t.Context(), second); unfinished || err != nil {
		t.Errorf("unfinished %v, %v", unfinished, err)
	}
}

var errPlug = errors.New("the plug was pulled")

// failing is a store that fails after some writes.
func failing(store *sqlstore.Store, left int) *sqlstore.Store {
	return catalogfile.Around(store, func(op string, do func() error) error {
		if slices.Contains([]string{"apply", "put snapshot", "set source"}, op) {
			if left--; left < 0 {
				return errPlug
			}
		}
		return do()
	})
}

func TestInterrupted(t *testing.T) {
	dir := export(t, full(t))
	want := files(t, dir)
	for writes := range 8 {
		t.Run(fmt.Sprint(writes), func(t *testing.T) {
			store := open(t)
			if _, err := archive.Read(t.Context(), failing(store, writes), os.DirFS(dir),
				func(int, int) {}); !errors.Is(err, errPlug) {
				t.Fatalf("error %v", err)
			}
			if unfinished, err := archive.Unfinished(t.Context(), store); !unfinished || err != nil {
				t.Errorf("unfinished %v, %v", unfinished, err)
			}
			other := export(t, open(t))
			_, err := archive.Read(t.Context(), store, os.DirFS(other), func(int, int) {})
			if !errors.Is(err, archive.ErrNotEmpty) {
				t.Errorf("another corpus on top: %v", err)
			}
			if _, err := archive.Read(t.Context(), store, os.DirFS(dir), func(int, int) {}); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, files(t, export(t, store))); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestRefused(t *testing.T) {
	dir := export(t, full(t))
	good := fstest.MapFS{}
	for name, text := range files(t, dir) {
		good[name] = &fstest.MapFile{Data: []byte(text)}
	}
	manifest := string(good["manifest.jsonl"].Data)
	tests := map[string]struct {
		change func(fstest.MapFS)
		want   string
		damage bool
	}{
		"no manifest":    {func(m fstest.MapFS) { delete(m, "manifest.jsonl") }, "no manifest.jsonl there", false},
		"empty manifest": {func(m fstest.MapFS) { m["manifest.jsonl"].Data = nil }, "a source of kind snapshot", false},
		"documents": {func(m fstest.MapFS) {
			m["manifest.jsonl"].Data = []byte(`{"path":"a.md","content_type":"doc_page"}` + "\n")
		}, "a source of kind snapshot", false},
		"no JSON": {func(m fstest.MapFS) { m["manifest.jsonl"].Data = []byte("{\n") }, "manifest.jsonl:1", true},
		"newer": {func(m fstest.MapFS) { replace(m, "manifest.jsonl", `"format":2`, `"format":3`) },
			"a newer almanac", false},
		"older": {func(m fstest.MapFS) { replace(m, "manifest.jsonl", `"format":2`, `"format":1`) },
			"before almanac 0.2.0", false},
		"leaves": {func(m fstest.MapFS) {
			replace(m, "manifest.jsonl", `"snapshots.jsonl"`,
				`"../snapshots.jsonl"`)
		}, "not a path inside", true},
		"file gone": {func(m fstest.MapFS) { delete(m, "snapshots.jsonl") }, "snapshots.jsonl", true},
		"file changed": {func(m fstest.MapFS) { replace(m, "snapshots.jsonl", "1", "2") }, "differs from its checksum",
			true},
		"file cut": {func(m fstest.MapFS) { m["sources.jsonl"].Data = m["sources.jsonl"].Data[1:] },
			"differs from its checksum", true},
		"record forged": {func(m fstest.MapFS) { forge(m, "records/docs%2Fall.jsonl", "Page <p7>", "Page <x7>") },
			"does not match its hash", true},
		"line broken": {func(m fstest.MapFS) { forge(m, "records/docs%2Fall.jsonl", `{"id":1000005`, `{"id":"`) },
			"records/docs%2Fall.jsonl: line 5", true},
		"no id": {func(m fstest.MapFS) { forge(m, "records/docs%2Fall.jsonl", `{"id":1000005`, `{"id":0`) },
			"bad entry", false},
		"id twice": {func(m fstest.MapFS) { forge(m, "records/docs%2Fall.jsonl", `{"id":1000005`, `{"id":1000004`) },
			"another record has id", false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			m := fstest.MapFS{}
			for name, f := range good {
				m[name] = &fstest.MapFile{Data: slices.Clone(f.Data)}
			}
			tt.change(m)
			store := open(t)
			_, err := archive.Read(t.Context(), store, m, func(int, int) {})
			if err == nil || !strings.Contains(err.Error(), tt.want) ||
				errors.Is(err, archive.ErrDamaged) != tt.damage {
				t.Fatalf("error %v, want %q", err, tt.want)
			}
		})
	}
	if manifest != string(good["manifest.jsonl"].Data) {
		t.Fatal("the fixture changed")
	}
	store := full(t)
	before, _ := store.LastChange(t.Context())
	if _, err := archive.Read(t.Context(), store, good, func(int, int) {}); !errors.Is(err, archive.ErrNotEmpty) {
		t.Errorf("into a catalog that holds something: %v", err)
	}
	if after, _ := store.LastChange(t.Context()); after != before {
		t.Error("something was written")
	}
	_, err := archive.Write(t.Context(), store, causeway, dir, func(int, int) {})
	if !errors.Is(err, archive.ErrNotEmpty) {
		t.Errorf("over a corpus: %v", err)
	}
}

func replace(m fstest.MapFS, name, from, to string) {
	m[name].Data = bytes.Replace(m[name].Data, []byte(from), []byte(to), 1)
}

// forge changes a file together with its checksum.
func forge(m fstest.MapFS, name, from, to string) {
	before := archive.Checksum(m[name].Data)
	replace(m, name, from, to)
	replace(m, "manifest.jsonl", before, archive.Checksum(m[name].Data))
}

// A failed export leaves nothing behind.
func TestWriteFails(t *testing.T) {
	parent := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	_, err := archive.Write(ctx, full(t), causeway, filepath.Join(parent, "corpus"), func(done, _ int) {
		if done == 400 {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if left, _ := os.ReadDir(parent); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}
