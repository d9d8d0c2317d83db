package snapshot_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"flag"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"almanac/catalog"
	"almanac/catalog/network"
	"almanac/ingest"
	"almanac/ingest/snapshot"
	"almanac/text/options"
)

var update = flag.Bool("update", false, "rewrite the fixture's manifest")

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
func open(t testing.TB, options map[string]any) ingest.Cursored {
	t.Helper()
	return connector(t, source(options), environment())
}

// within makes the connector of a source whose snapshot is fsys.
func within(t testing.TB, fsys fs.FS, options map[string]any) ingest.Cursored {
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

func connector(t testing.TB, src network.Source, env ingest.Environment) ingest.Cursored {
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
	pages = map[string]any{
		"content_types": map[string]any{"page": "doc", "note": "release", "readme": "repo"},
		"release_data":  []any{"LATEST"},
	}
)

// sync reads a source of the fixture from its directory.
func sync(t *testing.T, options map[string]any) *recorder {
	t.Helper()
	out := newRecorder()
	o, err := open(t, options).Sync(context.Background(), "", out)
	if err != nil || !o.Complete || o.Cursor == "" {
		t.Fatalf("outcome %+v, error %v", o, err)
	}
	return out
}

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

// TestMain writes the fixture's manifest with -update, so that its checksums
// are those of its files.
func TestMain(m *testing.M) {
	flag.Parse()
	if *update {
		if err := writeManifest(); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}

func writeManifest() error {
	var out bytes.Buffer
	err := filepath.WalkDir(harbour, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() == "manifest.jsonl" {
			return err
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		rel := filepath.ToSlash(strings.TrimPrefix(name, harbour+string(filepath.Separator)))
		line, err := json.Marshal(fixtureRow(rel, text))
		out.Write(line)
		out.WriteByte('\n')
		return err
	})
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(harbour, "manifest.jsonl"), out.Bytes(), 0o644)
}

func fixtureRow(name string, text []byte) map[string]any {
	sum := sha256.Sum256(text)
	row := map[string]any{"path": name, "commit": "f00d", "licence": "CC0-1.0", "bytes": len(text),
		"sha256": hex.EncodeToString(sum[:])}
	top, rest, _ := strings.Cut(name, "/")
	kind, repo, base := "index", "lantern/"+top, filepath.Base(name)
	row["source_path"] = rest
	switch {
	case strings.HasPrefix(name, "lips/lip-"):
		kind, row["cip"] = "lip", base[4:8]
	case name == "lips/README.md":
		kind = "page"
	case strings.HasPrefix(base, "PR-"):
		kind, row["source_path"] = map[string]string{"lips": "lip_draft", "grants": "grant"}[top], "proposals/"+base
		var n int
		_ = json.Unmarshal([]byte(strings.TrimSuffix(base[3:], ".md")), &n)
		row["pr"] = n
	case strings.HasPrefix(name, "grants/main/proposals/"):
		kind, row["source_path"] = "grant", strings.TrimPrefix(name, "grants/main/")
	case strings.HasPrefix(name, "lips/attachments/"):
		kind = "attachment"
	case strings.Contains(name, "/snippets/"), strings.HasSuffix(name, ".inc"):
		kind = "snippet"
	case top == "docs", name == "grants/main/checks.yml":
		kind = "page"
	case top == "notes":
		kind = "note"
	case top == "ecosystem":
		kind, repo, row["source_path"] = "readme", "bram/fog-horn", "README.md"
	}
	row["content_type"], row["source_repo"] = kind, repo
	return row
}

// small builds a snapshot in memory; manifest lines are given as they stand.
func small(manifest string, files map[string]string) fstest.MapFS {
	fsys := fstest.MapFS{"manifest.jsonl": {Data: []byte(manifest)}}
	for name, text := range files {
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return fsys
}
