package snapshot_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"almanac/catalog"
	"almanac/ingest"
	"almanac/ingest/snapshot"
	"almanac/testing/connectortest"
)

var update = flag.Bool("update", false, "write the golden file again")

// TestHarbour compares the records, events and reports of a directory with every kind of
// content with a golden file. A numbered proposal has its stored path and its public
// address, a draft is keyed by its pull request, and a merged pull request is an alias of
// what it became. A merged grant replaces its pull request. Every listed attachment is
// below its proposal. Pages have what they include; snippets and configuration are no
// records. A page of many releases is one record, or is split on request. A manifest that
// has not changed is not read again.
func TestHarbour(t *testing.T) {
	const golden = "testdata/harbour.golden"
	split := map[string]any{"content_types": map[string]any{"note": "release"}, "split_releases": true}
	var got bytes.Buffer
	for _, options := range []map[string]any{lips, grants, pages, split} {
		c, out, again := open(t, options), newRecorder(), newRecorder()
		state, o, err := c.Sync(t.Context(), nil, out)
		if err != nil || !o.Complete || len(state) == 0 {
			t.Fatalf("outcome %+v, error %v", o, err)
		}
		if same, o2, err := c.Sync(t.Context(), state, again); err != nil || o2.Complete || !bytes.Equal(same, state) ||
			len(again.entries) > 0 {
			t.Errorf("unchanged: %+v, %v, %d records", o2, err, len(again.entries))
		}
		encode := json.NewEncoder(&got)
		for _, e := range out.entries {
			_ = encode.Encode(e)
		}
		for _, e := range out.events {
			_ = encode.Encode(e)
		}
		fmt.Fprintf(&got, "kept %v, skipped %q, warned %q, %d of %d\n", out.kept, out.skips, out.warns, out.done, out.total)
	}
	if *update {
		if err := os.WriteFile(golden, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got.String(), "\n")); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestDraftsOfNumberedProposals(t *testing.T) {
	text := "<pre>\nTitle: Lamps\nStatus: Draft\n</pre>\n\n## Abstract\n\n" +
		strings.Repeat("The keeper lights the lamps at dusk. ", 6)
	manifest := `{"path": "PR-8.md", "source_path": "lip-0004/lip-0004.md", "content_type": "lip_draft", "pr": 8}
{"path": "PR-9.md", "source_path": "lip-0004/lip-0004.md", "content_type": "lip_draft", "pr": 9}
{"path": "lip.md", "source_path": "lip-0004/lip-0004.md", "content_type": "lip"}
{"path": "pulls.jsonl", "content_type": "index"}
`
	pulls := `{"number": 8, "state": "open", "files": [["M", "README.md"], ["M", "lip-0004/lip-0004.md"]]}
{"number": 9, "state": "open", "files": [["A", "lip-0004/lip-0004.md"]]}
`
	c := within(t, small(manifest,
		map[string]string{"lip.md": text, "PR-8.md": text, "PR-9.md": text, "pulls.jsonl": pulls}),
		map[string]any{"pulls": "pulls.jsonl"})
	out := newRecorder()
	if _, _, err := c.Sync(context.Background(), nil, out); err != nil {
		t.Fatal(err)
	}
	// one changes the text, the other had added it
	for key, want := range map[string][]string{"PR-8": nil, "PR-9": {"LIP-0004"}} {
		if got := decode[catalog.CIP](t, out.must(t, catalog.KindCIP, key)).SupersededBy; !slices.Equal(got, want) {
			t.Errorf("%s is superseded by %q, want %q", key, got, want)
		}
	}
}

// TestTheManifestKnowsBetter: the number that it gives a file counts, and a listing
// of pull requests is about the repository that it comes from.
func TestTheManifestKnowsBetter(t *testing.T) {
	manifest := `{"path": "a.md", "source_path": "lip-0004/l.md", "content_type": "lip", "cip": "9", "source_repo": "a/lips"}
{"path": "g.md", "content_type": "grant", "pr": 3, "source_repo": "a/grants"}
{"path": "h.md", "source_path": "h.md", "content_type": "grant", "pr": 4, "source_repo": "b/grants"}
{"path": "again.md", "source_path": "lip-0004/l.md", "content_type": "lip", "source_repo": "a/lips"}
{"path": "pulls.jsonl", "content_type": "index", "source_repo": "b/grants"}
`
	pulls := `{"number": 3, "state": "closed"}
{"number": 4, "state": "closed"}
`
	c := within(t, small(manifest, map[string]string{"a.md": "# Lamps", "g.md": "# Ropes", "h.md": "# Nets",
		"again.md": "# Lamps", "pulls.jsonl": pulls}),
		map[string]any{"pulls": "pulls.jsonl"})
	out := newRecorder()
	if _, _, err := c.Sync(t.Context(), nil, out); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range out.entries {
		got = append(got, e.Record.Key+" "+e.Record.Container+" "+e.Record.State)
	}
	want := []string{"LIP-0009 a/lips Draft", "3 a/grants open", "4 b/grants closed"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if diff := cmp.Diff([]string{"again.md: is a copy of the same file as another one: a.md"}, out.skips); diff != "" {
		t.Errorf("skipped (-want +got)\n%s", diff)
	}
}

// What is wrong with one file or line never ends a run, and what the catalog
// holds of it is kept.
func TestUglySnapshots(t *testing.T) {
	row := func(path, more string) string {
		return fmt.Sprintf(`{"path": %q, "source_repo": "a/b", "source_path": %q, "content_type": "page"%s}`+"\n", path,
			path, more)
	}
	big := strings.Repeat("x", ingest.MaxText+1)
	for name, tt := range map[string]struct {
		manifest string
		files    map[string]string
		put      []string
		skipped  []string // substrings, one each
		kept     []string
	}{
		"a_missing_file": {row("gone.md", ""), nil, nil, []string{"file does not exist"},
			[]string{"gone.md"}},
		"a_wrong_checksum": {row("a.md", `, "sha256": "00"`), map[string]string{"a.md": "x"}, nil,
			[]string{"a.md: differs from its checksum"}, []string{"a.md"}},
		"a_file_too_large": {row("a.md", ""), map[string]string{"a.md": big}, nil,
			[]string{"a.md: is larger than 2 MB"}, []string{"a.md"}},
		"a_directory": {row("d.md", ""), map[string]string{"d.md/x": "y"}, nil,
			[]string{"d.md: "}, []string{"d.md"}},
		"a_broken_line": {"{\"path\": \n" + row("a.md", ""), map[string]string{"a.md": "x"},
			[]string{"a.md"}, []string{"manifest.jsonl:1: unexpected end"}, nil},
		"a_line_of_another_shape": {"[1, 2]\n\"x\"\n" + row("a.md", ""), map[string]string{"a.md": "x"},
			[]string{"a.md"}, []string{"manifest.jsonl:1", "manifest.jsonl:2"}, nil},
		"a_line_without_end": {strings.TrimSpace(row("a.md", "")), map[string]string{"a.md": "x"},
			[]string{"a.md"}, nil, nil},
		"a_line_far_too_long": {row("a.md", "") + strings.Repeat("y", 1<<20) + "\n" + row("b.md", ""),
			map[string]string{"a.md": "x", "b.md": "y"}, []string{"a.md", "b.md"},
			[]string{"manifest.jsonl:2: the line is longer"}, nil},
		"a_path_named_twice": {row("a.md", "") + row("a.md", `, "sha256": "00"`), map[string]string{"a.md": "x"},
			[]string{"a.md"}, []string{"manifest.jsonl:2: a.md: its path appears twice"}, nil},
		"paths_out_of_it": {row("../a.md", "") + row("/etc/a.md", "") + row("a/../../b.md", "") +
			row(`a\b.md`, "") + row("", ""), nil, nil, []string{":1", ":2", ":3", ":4", ":5"}, nil},
		"crlf_bom_and_bad_bytes": {"\ufeff" + strings.ReplaceAll(row("a.md", ""), "\n", "\r\n"),
			map[string]string{"a.md": "\ufeff# T\xff\r\ntext\r\n"}, []string{"a.md"}, nil, nil},
		"broken_front_matter": {row("a.md", ""), map[string]string{"a.md": "---\ntitle: [\n---\ntext"},
			[]string{"a.md"}, nil, nil},
		"imports_in_a_circle": {row("a.mdx", "") + row("b.mdx", ""),
			map[string]string{"a.mdx": "import B from './b.mdx'\n<B/>", "b.mdx": "import A from './a.mdx'\n<A/>"},
			[]string{"a.mdx", "b.mdx"}, nil, nil},
		"a_missing_include": {row("a.rst", ""),
			map[string]string{"a.rst": ".. include:: no.rst\n\n.. literalinclude:: no.sh\n"}, []string{"a.rst"}, nil,
			nil},
		"an_empty_manifest": {"", nil, nil, nil, nil},
		"a_type_of_another_source": {strings.ReplaceAll(row("a.md", ""), "page", "other"),
			map[string]string{"a.md": "x"}, nil, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			c := within(t, small(tt.manifest, tt.files),
				map[string]any{"content_types": map[string]any{"page": "doc"}})
			out := newRecorder()
			if _, o, err := c.Sync(context.Background(), nil, out); err != nil || !o.Complete {
				t.Fatalf("%+v, %v", o, err)
			}
			var put, kept []string
			for _, e := range out.entries {
				put = append(put, e.Record.Key)
				if e.Record.Title == "" || strings.ContainsAny(e.Record.Body, "\r\ufeff") {
					t.Errorf("%q %q", e.Record.Title, e.Record.Body)
				}
			}
			for _, ref := range out.kept {
				kept = append(kept, ref.Key)
			}
			if !slices.Equal(put, tt.put) || !slices.Equal(kept, tt.kept) || len(out.skips) != len(tt.skipped) {
				t.Fatalf("put %q, kept %q, skipped %q", put, kept, out.skips)
			}
			for i, part := range tt.skipped {
				if !strings.Contains(out.skips[i], part) {
					t.Errorf("skipped %q, want %q in it", out.skips[i], part)
				}
			}
		})
	}
}

func TestUglyProposals(t *testing.T) {
	manifest := `{"path": "x.md", "source_path": "readme.md", "content_type": "lip"}
{"path": "y.md", "source_path": "p/y.md", "content_type": "grant"}
{"path": "z.md", "source_path": "p/z.md", "content_type": "grant", "pr": 9}
{"path": "gone.md", "source_path": "p/gone.md", "content_type": "grant", "pr": 10}
{"path": "lip.md", "source_path": "lip-0004/lip-0004.md", "content_type": "lip"}
{"path": "pulls.jsonl", "content_type": "index"}
`
	files := map[string]string{"x.md": "no header", "y.md": "y", "z.md": "",
		"pulls.jsonl": "{}\nnonsense\n{\"number\": 9, \"state\": \"odd\"}\n"}
	c := within(t, small(manifest, files),
		map[string]any{"pulls": "pulls.jsonl"})
	out := newRecorder()
	if _, _, err := c.Sync(context.Background(), nil, out); err != nil {
		t.Fatal(err)
	}
	var skips []string
	for _, s := range out.skips {
		locator, _, _ := strings.Cut(s, ": ")
		skips = append(skips, locator)
	}
	want := []string{"pulls.jsonl:1", "pulls.jsonl:2", "x.md", "lip.md", "gone.md"}
	if diff := cmp.Diff(want, skips); diff != "" {
		t.Errorf("skipped (-want +got):\n%s\n%q", diff, out.skips)
	}
	if diff := cmp.Diff([]string{"y.md: no pull request added it, so it is not a proposal"}, out.warns); diff != "" {
		t.Errorf("warned (-want +got):\n%s", diff)
	}
	kept := []catalog.Ref{{Kind: catalog.KindCIP, Key: "LIP-0004"}, {Kind: catalog.KindGrant, Key: "10"}}
	if diff := cmp.Diff(kept, out.kept); diff != "" {
		t.Errorf("kept (-want +got):\n%s", diff)
	}
	if e := out.must(t, catalog.KindGrant, "9"); e.Record.State != "closed" {
		t.Errorf("a state of no known name: %q", e.Record.State)
	}
}

func TestRunsThatFail(t *testing.T) {
	for want, fsys := range map[string]fstest.MapFS{
		"manifest.jsonl":   {},
		"index gone.jsonl": small(`{"path":"a.md","content_type":"page"}`, map[string]string{"a.md": "x"}),
	} {
		state, o, err := within(t, fsys, map[string]any{"pulls": "gone.jsonl"}).Sync(t.Context(), nil, newRecorder())
		if err == nil || !strings.Contains(err.Error(), want) || o.Complete || state != nil {
			t.Errorf("%+v, %v; want an error with %q", o, err, want)
		}
	}
}

func TestNothingLeadsOutOfTheDirectory(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("symbolic links and pipes are those of Unix")
	}
	outside, dir := t.TempDir(), t.TempDir()
	for name, text := range map[string]string{
		filepath.Join(outside, "secret.md"): "# Secret",
		filepath.Join(dir, "manifest.jsonl"): `{"path":"link.md","content_type":"page"}
{"path":"pipe.md","content_type":"page"}
{"path":"up/secret.md","content_type":"page"}
`,
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, link := range [][2]string{{filepath.Join(outside, "secret.md"), "link.md"}, {outside, "up"}} {
		if err := os.Symlink(link[0], filepath.Join(dir, link[1])); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe.md"), 0o600); err != nil {
		t.Fatal(err)
	}
	out := newRecorder()
	if _, _, err := open(t, map[string]any{"dir": dir}).Sync(t.Context(), nil, out); err != nil {
		t.Fatal(err)
	}
	if len(out.entries) != 0 || len(out.skips) != 3 {
		t.Errorf("%d records, skipped %q", len(out.entries), out.skips)
	}
}

func TestOptionsAreStrict(t *testing.T) {
	for name, tt := range map[string]struct {
		options map[string]any
		want    string
	}{
		"no_directory":     {map[string]any{"dir": ""}, "the option dir is missing"},
		"no_content_types": {map[string]any{"content_types": map[string]any{}}, "the option content_types is missing"},
		"a_kind_it_cannot_be": {map[string]any{"content_types": map[string]any{"x": "mail_thread"}},
			`content_types.x: unknown value "mail_thread"`},
		"a_misspelt_option":    {map[string]any{"histroy": "x"}, `did you mean "history"`},
		"a_value_of_wrong_use": {map[string]any{"bulk_pulls": "many"}, "bulk_pulls"},
	} {
		t.Run(name, func(t *testing.T) {
			if err := connectortest.Open(snapshot.Kind, source(tt.options).Options.Values()); err == nil ||
				!strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, want %q in it", err, tt.want)
			}
		})
	}
}

func FuzzSync(f *testing.F) {
	f.Add(`{"path":"a.md","content_type":"page","source_repo":"a/b","source_path":"a.md"}`, "# T\n",
		`{"number":1,"state":"merged","files":[["A","lip-0001/a.md"]]}`)
	f.Add(`{"path":"a.md","content_type":"lip","cip":"0001"}`, "<pre>\nLIP: 1\nTitle: x\n</pre>", "")
	f.Add(`{"path":"a.md","content_type":"grant","pr":3}`, "x", `{"path":"a.md","pull_request":3}`)
	f.Add(`{"path":"a.md","content_type":"note","source_path":"1.0.md"}`, "# 1.0\n\n# 2.0",
		`{"cip":"0001","date":"2031-01-01T00:00:00Z","to":"Final","source":"main:README.md"}`)
	f.Add(`{"path":"a.md","content_type":"readme","source_repo":"a/b"}`, "# b",
		`{"cip":"1","source_path":"x","text":"a.md"}`)
	f.Add(`{"path":"a.md","content_type":"readme"}`, "# b", "")
	f.Fuzz(func(t *testing.T, manifest, text, index string) {
		fsys := small(manifest+"\n"+`{"path":"index.jsonl","source_repo":"a/b","content_type":"index"}`,
			map[string]string{"a.md": text, "index.jsonl": index})
		c := within(t, fsys,
			map[string]any{
				"pulls": "index.jsonl", "history": "index.jsonl", "attachments": "index.jsonl",
				"merged_files": "index.jsonl", "split_releases": true,
			})
		out := newRecorder()
		if _, _, err := c.Sync(context.Background(), nil, out); err != nil {
			t.Fatal(err)
		}
		for _, e := range out.entries {
			if e.Record.Key == "" || e.Record.Kind == "" {
				t.Errorf("%+v", e.Record)
			}
		}
	})
}

// TestProposalsAreBounded: a text, its header, and what an earlier run was killed over
// are skipped, and the records of former versions kept.
func TestProposalsAreBounded(t *testing.T) {
	manifest := `{"path": "long.md", "source_path": "lip-0004/lip-0004.md", "content_type": "lip"}
{"path": "header.md", "source_path": "p/header.md", "content_type": "lip", "pr": 9}
{"path": "held.md", "source_path": "lip-0005/lip-0005.md", "content_type": "lip"}
{"path": "grant.md", "source_path": "p/grant.md", "content_type": "grant", "pr": 10}
{"path": "page.md", "source_path": "page.md", "content_type": "page"}
{"path": "good.md", "source_path": "lip-0006/lip-0006.md", "content_type": "lip"}
`
	long := strings.Repeat("# a\n", ingest.MaxText/4) + "more"
	held := "---\ntitle: Lamps\n---\n" + strings.Repeat("One of many lines about lamps.\n", 3000)
	files := map[string]string{"long.md": long, "grant.md": long, "held.md": held, "page.md": held, "good.md": held + ".",
		"header.md": "---\ntitle: x\nx: [1" + strings.Repeat(",1", 40<<10) + "]\n---\n"}
	env := environment()
	env.Files = small(manifest, files)
	c := connector(t, inside(nil), env)
	out := newRecorder()
	out.killed = held
	if _, _, err := c.Sync(t.Context(), nil, out); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"long.md: is larger than 2 MB", "held.md: " + ingest.ErrKilled.Error(),
		"header.md: proposal: p/header.md: its header has 81936 bytes, larger than the limit of 65536",
		"grant.md: is larger than 2 MB", "page.md: " + ingest.ErrKilled.Error(),
	}
	if diff := cmp.Diff(want, out.skips); diff != "" {
		t.Errorf("skipped (-want +got):\n%s", diff)
	}
	var kept []string
	for _, ref := range out.kept {
		kept = append(kept, ref.String())
	}
	if diff := cmp.Diff([]string{"cip LIP-0004", "cip LIP-0005", "cip PR-9", "proposal 10", "doc page.md"},
		kept); diff != "" {
		t.Errorf("kept (-want +got):\n%s", diff)
	}
	if len(out.entries) != 1 || out.entries[0].Record.Key != "LIP-0006" {
		t.Errorf("put %+v", out.entries)
	}
}

func TestSuite(t *testing.T) {
	connectortest.Run(t, func(t *testing.T) connectortest.Upstream {
		row := `{"path": %q, "source_repo": "a/b", "source_path": %q, "content_type": "page", "commit": %q}` + "\n"
		first, second := fmt.Sprintf(row, "a.md", "a.md", "1"), fmt.Sprintf(row, "b.md", "b.md", "1")
		fsys := small(first+second, map[string]string{"a.md": "# Lamps", "b.md": "# Tides"})
		options := inside(pages).Options.Values()
		return connectortest.Upstream{Config: connectortest.Config{Kind: snapshot.Kind, Options: options, Files: fsys},
			Change: func() {
				fsys["a.md"].Data = []byte("# Lamps at dusk")
				fsys["manifest.jsonl"].Data = []byte(fmt.Sprintf(row, "a.md", "a.md", "2") + second)
			},
			Drop: func(s *connectortest.Source) {
				s.Options = maps.Clone(options)
				s.Options["split_releases"] = true
				fsys["manifest.jsonl"].Data = []byte(first)
			}}
	})
}
