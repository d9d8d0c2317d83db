package snapshot_test

import (
	"io/fs"
	"log/slog"
	"path/filepath"
	"testing"
	"testing/fstest"
	"time"

	"almanac/catalog"
	"almanac/catalog/network"
	"almanac/ingest"
	"almanac/ingest/snapshot"
	"almanac/text/options"
)

const harbour = "testdata/harbour"

// environment is of a fictional network.
func environment() ingest.Environment {
	return ingest.Environment{
		Network: network.Network{Name: "lantern", Title: "Lantern", Proposals: network.Proposals{
			Prefix: "LIP", Statuses: []string{"Draft", "Review", "Final", "Withdrawn", "Rejected"},
			StatusMap: map[string]string{"Active": "Final"}, Default: "Draft",
		}},
		Now: func() time.Time { return time.Date(2031, 6, 1, 0, 0, 0, 0, time.UTC) },
		Log: slog.New(slog.DiscardHandler),
	}
}

// open makes the connector of a source in a directory.
func open(t testing.TB, options map[string]any) ingest.Connector[[]byte] {
	t.Helper()
	return connector(t, source(options), environment())
}

// within makes the connector of a source whose snapshot is fsys.
func within(t testing.TB, fsys fs.FS, options map[string]any) ingest.Connector[[]byte] {
	t.Helper()
	env := environment()
	env.Files = fsys
	return connector(t, inside(options), env)
}

// inside is a source in the network's folder.
func inside(options map[string]any) network.Source {
	src := source(options)
	src.Options = src.Options.With("dir", ".")
	return src
}

func connector(t testing.TB, src network.Source, env ingest.Environment) ingest.Connector[[]byte] {
	t.Helper()
	c, err := ingest.Kinds(snapshot.Kind).Connector(src, env)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// source reads all of the fixture.
func source(more map[string]any) network.Source {
	dir, err := filepath.Abs(harbour)
	if err != nil {
		panic(err)
	}
	all := map[string]any{
		"dir": dir,
		"content_types": map[string]any{
			"lip": "cip", "lip_draft": "cip", "attachment": "attachment", "grant": "proposal", "page": "doc",
			"note": "release", "readme": "repo",
		},
		"url":  map[string]any{"*": "https://forge.example/{repo}/blob/{commit}/{source_path}"},
		"pull": map[string]any{"*": "https://forge.example/{repo}/pull/{n}"},
	}
	for k, v := range more {
		all[k] = v
	}
	return network.Source{Name: "harbour", Kind: "snapshot", Options: options.Of(all)}
}

// lips and grants are the options that only their sources have.
var (
	lips = map[string]any{
		"content_types": map[string]any{"lip": "cip", "lip_draft": "cip", "attachment": "attachment"},
		"pulls":         "lips/pull-requests.jsonl", "history": "lips/status_history.jsonl",
		"attachments": "lips/attachments.jsonl",
	}
	grants = map[string]any{
		"content_types": map[string]any{"grant": "proposal"},
		"pulls":         "grants/pull-requests.jsonl", "merged_files": "grants/merged_files.jsonl",
		"bulk_pulls": []any{8},
	}
	pages = map[string]any{
		"content_types": map[string]any{"page": "doc", "note": "release", "readme": "repo"},
		"release_data":  []any{"LATEST"},
	}
)

func (r *recorder) must(t *testing.T, kind catalog.Kind, key string) catalog.Entry {
	t.Helper()
	e, ok := r.find(kind, key)
	if !ok {
		t.Fatalf("no %s %s", kind, key)
	}
	return e
}

func decode[T any](t *testing.T, e catalog.Entry) T {
	t.Helper()
	v, err := catalog.Decode[T](e.Record)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// small builds a snapshot in memory; manifest lines are given as they stand.
func small(manifest string, files map[string]string) fstest.MapFS {
	fsys := fstest.MapFS{"manifest.jsonl": {Data: []byte(manifest)}}
	for name, text := range files {
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return fsys
}
