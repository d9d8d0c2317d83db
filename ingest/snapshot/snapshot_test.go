package snapshot_test

import (
	"context"
	"errors"
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
	"almanac/ingest/memory"
	"almanac/ingest/snapshot"
	"almanac/testing/connectortest"
)

func TestPages(t *testing.T) {
	out := sync(t, pages)
	if len(out.skips)+len(out.warns) > 0 {
		t.Errorf("skipped %q, warned %q", out.skips, out.warns)
	}
	t.Run("a_page_has_what_it_includes", func(t *testing.T) {
		e := out.must(t, catalog.KindDoc, "docs/site/guide/mooring.mdx")
		data := decode[catalog.Doc](t, e)
		if !strings.Contains(e.Record.Body, "```text\nbowline\n```") ||
			!slices.Equal(data.Includes, []string{"docs/site/snippets/knot.mdx"}) {
			t.Errorf("%q %+v", e.Record.Body, data)
		}
		if e.Record.Title != "Mooring at night" || e.Record.Summary != "How to moor when the lamps are out." ||
			data.Section != "site" {
			t.Errorf("%+v %+v", e.Record, data)
		}
		tides := out.must(t, catalog.KindDoc, "docs/manual-2.10/howtos/tides.rst")
		if data := decode[catalog.Doc](t, tides); data.Version != "2.10" || data.Stub || len(data.Includes) != 1 {
			t.Errorf("%+v", data)
		}
	})
	t.Run("snippets_configuration_and_data_are_no_records", func(t *testing.T) {
		for _, e := range out.entries {
			if p := e.Record.Path; strings.Contains(p, "snippets") || strings.HasSuffix(p, ".yml") ||
				strings.HasSuffix(p, "LATEST") {
				t.Errorf("%s is a record", p)
			}
		}
	})
	t.Run("a_release_has_its_version_and_date", func(t *testing.T) {
		for path, want := range map[string]string{
			"notes/tug-releases/1-2-0.mdx": "Tug 1.2.0|1.2.0|false|tug|2031-05-03",
			"notes/tug/1.3.0-rc1.md":       "Tug 1.3.0-rc1|1.3.0-rc1|true|tug|2031-06-07",
			"notes/release_notes.rst":      "Release notes||false|notes|0001-01-01",
		} {
			e := out.must(t, catalog.KindRelease, path)
			data := decode[catalog.Release](t, e)
			got := fmt.Sprint(e.Record.Title, "|", data.Version, "|", data.Prerelease, "|", e.Record.Category, "|",
				e.Record.CreatedAt.Format("2006-01-02"))
			if got != want {
				t.Errorf("%s: %s, want %s", path, got, want)
			}
		}
	})
	t.Run("a_page_of_many_releases_is_split_on_request", func(t *testing.T) {
		options := map[string]any{"split_releases": true}
		for k, v := range pages {
			options[k] = v
		}
		out := sync(t, options)
		page := out.must(t, catalog.KindRelease, "notes/release_notes.rst")
		second := out.must(t, catalog.KindRelease, "notes/release_notes.rst#0.2.0")
		first := out.must(t, catalog.KindRelease, "notes/release_notes.rst#0.1.0")
		if page.Record.Body != "All notes." || second.Parent != (catalog.Ref{}) ||
			second.Record.Path != page.Record.Path || !strings.Contains(second.Record.Body, "Second rope") ||
			strings.Contains(second.Record.Body, "First rope") || decode[catalog.Release](t, first).Version != "0.1.0" {
			t.Errorf("%+v\n%+v\n%+v", page.Record, second, first)
		}
	})
	t.Run("a_readme_is_its_repository", func(t *testing.T) {
		e := out.must(t, catalog.KindRepo, "bram/fog-horn")
		if e.Record.Title != "bram/fog-horn" || decode[catalog.Repo](t, e).FullName != "bram/fog-horn" {
			t.Errorf("%+v", e.Record)
		}
	})
}

// TestTheManifestKnowsBetter: the number that it gives a file counts, and a listing
// of pull requests is about the repository that it comes from.
func TestTheManifestKnowsBetter(t *testing.T) {
	manifest := `{"path": "a.md", "source_path": "lip-0004/l.md", "content_type": "lip", "cip": "9", "source_repo": "a/lips"}
{"path": "g.md", "source_path": "g.md", "content_type": "grant", "pr": 3, "source_repo": "a/grants"}
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
	if _, err := c.Sync(t.Context(), "", out); err != nil {
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

func TestIncrement(t *testing.T) {
	c := open(t, pages)
	first, err := c.Sync(context.Background(), "", newRecorder())
	if err != nil {
		t.Fatal(err)
	}
	out := newRecorder()
	again, err := c.Sync(context.Background(), first.Cursor, out)
	if err != nil || again.Cursor != first.Cursor || again.Complete || len(out.entries) > 0 {
		t.Errorf("unchanged: %+v, %v, %d records; want the same cursor, no listing, nothing read", again, err,
			len(out.entries))
	}
	more := map[string]any{"split_releases": true}
	for k, v := range pages {
		more[k] = v
	}
	c = open(t, more)
	if o, err := c.Sync(context.Background(), first.Cursor, out); err != nil || !o.Complete ||
		o.Cursor == first.Cursor {
		t.Errorf("changed options: %+v, %v; want all read again", o, err)
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
			if o, err := c.Sync(context.Background(), "", out); err != nil || !o.Complete {
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

func TestRunsThatFail(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	full := errors.New("full")
	for name, tt := range map[string]struct {
		fsys    fstest.MapFS
		options map[string]any
		ctx     context.Context
		fail    error
		want    string
	}{
		"without_a_manifest": {fstest.MapFS{}, nil, context.Background(), nil, "manifest.jsonl"},
		"without_an_index": {small(`{"path":"a.md","content_type":"page"}`, map[string]string{"a.md": "x"}),
			map[string]any{"pulls": "gone.jsonl"}, context.Background(), nil, "index gone.jsonl"},
		"after_being_stopped": {small(`{"path":"a.md","content_type":"page"}`, map[string]string{"a.md": "x"}),
			nil, ctx, nil, "context canceled"},
		"when_the_sink_cannot_put": {small(`{"path":"a.md","content_type":"page"}`, map[string]string{"a.md": "x"}),
			nil, context.Background(), full, "full"},
	} {
		t.Run(name, func(t *testing.T) {
			c := within(t, tt.fsys, tt.options)
			out := newRecorder()
			out.fail = tt.fail
			o, err := c.Sync(tt.ctx, "", out)
			if err == nil || !strings.Contains(err.Error(), tt.want) || o.Complete || o.Cursor != "" {
				t.Errorf("%+v, %v; want an error with %q", o, err, tt.want)
			}
		})
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
	out := sync(t, map[string]any{"dir": dir})
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
		if _, err := c.Sync(context.Background(), "", out); err != nil {
			t.Fatal(err)
		}
		for _, e := range out.entries {
			if e.Record.Key == "" || e.Record.Kind == "" {
				t.Errorf("%+v", e.Record)
			}
		}
	})
}

// TestProposalsAreBounded: a text, its header, and what an earlier run had in hand
// when it ended are skipped, and the records of former versions kept.
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
	dir := t.TempDir()
	if err := memory.NewHand(dir, "1").Take([]byte(held)); err != nil {
		t.Fatal(err)
	}
	env.Hand = memory.NewHand(dir, "1")
	env.Files = small(manifest, files)
	c := connector(t, inside(nil), env)
	out := newRecorder()
	if _, err := c.Sync(t.Context(), "", out); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"long.md: is larger than 2 MB", "held.md: " + memory.ErrHeld.Error(),
		"header.md: proposals: p/header.md: its header has 81936 bytes, larger than the limit of 65536",
		"grant.md: is larger than 2 MB", "page.md: " + memory.ErrHeld.Error(),
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
