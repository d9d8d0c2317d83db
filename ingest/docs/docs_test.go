package docs_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"almanac/catalog"
	"almanac/catalog/network"
	"almanac/ingest"
	"almanac/ingest/docs"
	"almanac/testing/connectortest"
	"almanac/testing/gitrepotest"
	"almanac/text/options"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// source makes a source for a repository; more are further options by name.
func source(t testing.TB, repo *gitrepotest.Repo, more ...any) *connectortest.Source {
	t.Helper()
	o := map[string]any{
		"repository": map[string]any{"url": repo.Dir, "name": "harbour/handbook"},
		"url":        "https://forge.example.org/{repo}/blob/{commit}/{source_path}", "licence": "CC-BY-4.0",
	}
	for i := 0; i+1 < len(more); i += 2 {
		o[more[i].(string)] = more[i+1]
	}
	return connectortest.NewSource(t, connectortest.Config{Kind: docs.Kind, Options: o})
}

// prose is long enough not to be a stub.
func prose(about string) string {
	return strings.Repeat("The keeper of "+about+" looks at it at dusk and at dawn, and writes down what was seen. ",
		6) + "\n"
}

func doc(t testing.TB, r connectortest.Result, file string) catalog.Record {
	t.Helper()
	return r.Get(t, catalog.KindDoc, "harbour/handbook/"+file)
}

// files are the paths of the records below the repository.
func files(r connectortest.Result) []string {
	var paths []string
	for _, rec := range r.Records {
		paths = append(paths, strings.TrimPrefix(rec.Key, "harbour/handbook/"))
	}
	return paths
}

func TestAPage(t *testing.T) {
	t.Parallel()
	repo := gitrepotest.New(t)
	first := repo.Commit("one", map[string]string{
		"docs/guide/lamps.mdx": "---\ntitle: Lamps\ndescription: How lamps are lit.\n---\nimport Oil from " +
			"'/snippets/oil.mdx'\n\n<Oil />\n\n" +
			"<Tabs>\n<Tab title=\"Oil\">\nPour it.\n</Tab>\n<Tab title=\"Gas\">\nTurn " +
			"it.\n</Tab>\n</Tabs>\n\n```sh\nlamp --light   now\n```\n" + prose("the lamp"),
		"docs/snippets/oil.mdx": "Whale oil is not used.\n",
		"docs/ropes.rst":        "Ropes\n=====\n\n.. include:: knots.inc\n\n" + prose("the rope"),
		"docs/knots.inc":        "A bowline holds.\n",
	})
	repo.Commit("unrelated", map[string]string{"main.go": "package main"})
	r := source(t, repo).Sync()
	if diff := cmp.Diff([]string{"docs/guide/lamps.mdx", "docs/ropes.rst"}, files(r)); diff != "" {
		t.Errorf("pages (-want +got)\n%s", diff)
	}
	got := doc(t, r, "docs/guide/lamps.mdx")
	for _, want := range []string{"Whale oil is not used.", "**Oil**", "Pour it.", "**Gas**",
		"```sh\nlamp --light   now\n```"} {
		if !strings.Contains(got.Body, want) {
			t.Errorf("the body has no %q:\n%s", want, got.Body)
		}
	}
	day := time.Date(2031, 1, 2, 12, 0, 0, 0, time.UTC)
	want := catalog.Record{
		Kind: catalog.KindDoc, Key: "harbour/handbook/docs/guide/lamps.mdx", Title: "Lamps",
		URL:  "https://forge.example.org/harbour/handbook/blob/" + first + "/docs/guide/lamps.mdx",
		Path: "harbour/handbook/docs/guide/lamps.mdx", Source: got.Source,
		Container: "harbour/handbook", Category: "guide", CreatedAt: day, UpdatedAt: day, Summary: "How lamps are lit.",
		ID: got.ID, FirstSeenAt: got.FirstSeenAt, Hash: got.Hash, Body: got.Body, Data: got.Data, Tags: got.Tags,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	data := catalog.Doc{
		Format: "mdx", Section: "guide", Description: "How lamps are lit.", Commit: first, Licence: "CC-BY-4.0",
		Includes: []string{"harbour/handbook/docs/snippets/oil.mdx"},
	}
	if diff := cmp.Diff(data, connectortest.Data[catalog.Doc](t, got)); diff != "" {
		t.Errorf("data (-want +got)\n%s", diff)
	}
	if rope := doc(t, r, "docs/ropes.rst"); rope.Title != "Ropes" || !strings.Contains(rope.Body, "A bowline holds.") {
		t.Errorf("%q\n%s", rope.Title, rope.Body)
	}
}

func TestWhatIsAPage(t *testing.T) {
	t.Parallel()
	repo := gitrepotest.New(t)
	text := prose("it")
	repo.Commit("one", map[string]string{
		"README.md": "# Handbook\n" + text, "docs/_index.md": text,
		"docs/index.rst": "Harbour\n=======\n\n.. toctree::\n\n   a\n", "docs/a.markdown": text,
		"docs/SUMMARY.md": text, "docs/_sidebar.md": text, "docs/_partial.mdx": text, "docs/_templates/x.md": text,
		"docs/.vitepress/x.md": text,
		"docs/snippets/x.mdx":  text, "node_modules/p/README.md": text, "docs/docs.json": "{}", "docs/notes.txt": text,
		"docs/old/x.md": text,
		"docs/draft.md": "---\ndraft: true\n---\n" + text, "docs/hidden.mdx": "---\nhidden: true\n---\n" + text,
		"docs/unpublished.md": "---\npublished: false\n---\n" + text, "docs/shown.md": "---\ndraft: false\n---\n" +
			text, "docs/empty.md": "",
		"docs/picture.md": "\x89PNG\r\n\x1a\n\x00\x00" + text, "docs/large.md": strings.Repeat("x", ingest.MaxText+1),
		"other/x.md":      text,
		"docs/pointer.md": "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n",
	})
	if err := os.Symlink("../README.md", filepath.Join(repo.Dir, "docs", "link.md")); err != nil {
		t.Fatal(err)
	}
	repo.Git("update-index", "--add", "--cacheinfo", "160000,"+repo.Git("rev-parse", "HEAD")+",docs/module.md")
	repo.Git("add", "docs/link.md")
	repo.Git("commit", "--quiet", "--message", "a link and a module")
	r := source(t, repo, "include", []string{"README.md", "docs/**", "node_modules/**"}, "exclude",
		[]string{"docs/old/**"}).Sync()
	want := []string{"README.md", "docs/_index.md", "docs/a.markdown", "docs/empty.md", "docs/index.rst",
		"docs/shown.md"}
	if diff := cmp.Diff(want, files(r)); diff != "" {
		t.Errorf("pages (-want +got)\n%s", diff)
	}
	var skipped []string
	for _, p := range r.Problems {
		skipped = append(skipped, strings.TrimPrefix(p.Locator, "harbour/handbook/")+": "+p.Message)
	}
	front := ": not read: its front matter says that readers must not find it"
	part := ": not read: by its name or directory it is hidden, a menu or a part of pages, and no page includes it"
	if diff := cmp.Diff([]string{
		"docs/draft.md" + front, "docs/hidden.mdx" + front, "docs/large.md: has 2097153 bytes, larger than the limit of 2097152",
		"docs/picture.md: is not text", "docs/pointer.md: is stored outside the repository (Git LFS)",
		"docs/unpublished.md" + front, "docs/.vitepress/x.md" + part, "docs/SUMMARY.md" + part, "docs/_partial.mdx" + part,
		"docs/_sidebar.md" + part, "docs/_templates/x.md" + part, "docs/snippets/x.mdx" + part,
		"node_modules/p/README.md" + part,
		"docs/link.md: not read: git has a link or another repository there, not a file",
		"docs/module.md: not read: git has a link or another repository there, not a file",
	}, skipped); diff != "" {
		t.Errorf("skipped (-want +got)\n%s", diff)
	}
	if index := doc(t, r, "docs/index.rst"); !slices.Contains(index.Tags, catalog.TagStub) || index.Title != "Harbour" {
		t.Errorf("%q is tagged %v", index.Title, index.Tags)
	}
	r = source(t, repo, "extensions", []string{".txt"}, "roots",
		[]any{map[string]any{"dir": "docs/"}, map[string]any{"dir": "nowhere"}}).Sync()
	if diff := cmp.Diff([]string{"docs/notes.txt"}, files(r)); diff != "" || r.Skipped != 1 {
		t.Errorf("texts (-want +got)\n%s%v", diff, r.Problems)
	}
}

func TestTextsOfAllKinds(t *testing.T) {
	t.Parallel()
	repo := gitrepotest.New(t)
	repo.Commit("one", map[string]string{
		"crlf.md": "---\r\ntitle: Lines\r\n---\r\n\r\n```\r\ncode\r\n```\r\n" +
			strings.ReplaceAll(prose("lines"), "\n", "\r\n"),
		"bom.md":      "\xef\xbb\xbf---\ntitle: Marked\n---\n" + prose("marks"),
		"latin.md":    "# Caf\xe9\n\n" + prose("coffee"),
		"mixed.md":    "# Größe \x96 na\xefve\n\n" + prose("size"),
		"utf16.md":    "\xff\xfe#\x00 \x00W\x00i\x00d\x00e\x00\n\x00",
		"a b/ü#1?.md": "# Odd name\n\n" + prose("names"),
		"loop.rst": "Loop\n====\n\n.. include:: loop.rst\n\n.. include:: ../../../../etc/passwd\n\n.. include:: " +
			"/etc/passwd\n\n" + prose("loops"),
		"ping.mdx":  "import P from './_pong.mdx'\n\n# Ping\n\n<P />\n\n" + prose("ping"),
		"_pong.mdx": "import P from './ping.mdx'\n\npong\n\n<P />\n",
	})
	r := source(t, repo).Sync()
	if len(r.Problems) > 0 {
		t.Errorf("problems: %v", r.Problems)
	}
	for file, want := range map[string]string{
		"crlf.md": "Lines", "bom.md": "Marked", "latin.md": "Café", "mixed.md": "Größe – naïve", "utf16.md": "Wide",
		"a b/ü#1?.md": "Odd name", "loop.rst": "Loop", "ping.mdx": "Ping",
	} {
		rec := doc(t, r, file)
		if rec.Title != want || strings.ContainsAny(rec.Body, "\r\ufeff\x00") || strings.Contains(rec.Body, "root:") {
			t.Errorf("%s: %q\n%.200s", file, rec.Title, rec.Body)
		}
	}
	if rec := doc(t, r, "a b/ü#1?.md"); !strings.HasSuffix(rec.URL, "/a%20b/%C3%BC%231%3F.md") {
		t.Errorf("the address is %s", rec.URL)
	}
}

func TestNamesThatCannotBeKeysAreSkipped(t *testing.T) {
	t.Parallel()
	repo := gitrepotest.New(t)
	repo.Commit("one", map[string]string{
		"docs/a\tb.md": prose("a tab"), "docs/a\nb.md": prose("a line"), "docs/\xfcber.md": prose("another encoding"),
		"docs/Überblick \"1\".md": prose("quotes"), "tab\tdir/c.md": prose("a directory"), "docs/new.md": prose("the new"),
	})
	s := source(t, repo)
	r := s.Sync()
	if diff := cmp.Diff([]string{"docs/new.md", "docs/Überblick \"1\".md"}, files(r)); diff != "" || r.Skipped != 4 {
		t.Errorf("skipped %d, pages (-want +got)\n%s", r.Skipped, diff)
	}
	connectortest.Unchanged(t, s, r)
}

func TestAddresses(t *testing.T) {
	t.Parallel()
	repo := gitrepotest.New(t)
	front := func(keys string) string { return "---\n" + keys + "\n---\n" + prose("it") }
	repo.Commit("one", map[string]string{
		"docs/README.md": prose("all"), "docs/guide/index.mdx": prose("it"), "docs/guide/a b.md": prose("it"),
		"docs/guide/slug.md": front("slug: lamps"), "docs/guide/deep/index.md": front("slug: start"),
		"docs/guide/absolute.md": front("slug: /lamps/oil/"),
		"docs/guide/upwards.md":  front("slug: ../../../../x"), "docs/guide/id.md": front("id: named"),
		"docs/guide/permalink.md": front("permalink: /p.html"),
		"docs/guide/pattern.md":   front("permalink: /:title/"), "v2/guide/index.mdx": prose("v2"),
		"v3.1/x.md": prose("v3"),
	})
	r := source(t, repo, "url", "https://docs.example.org/{page}", "roots", []any{
		map[string]any{"dir": "docs"}, map[string]any{"dir": "v2", "version": "2",
			"url": "https://docs.example.org/{version}/{page}?at={branch}"},
		map[string]any{"dir": "v3.1", "url": "https://docs.example.org/{version}/{page}"},
	}).Sync()
	want := map[string]string{
		"docs/README.md": "", "docs/guide/index.mdx": "guide", "docs/guide/a b.md": "guide/a%20b",
		"docs/guide/slug.md":       "guide/lamps",
		"docs/guide/deep/index.md": "guide/deep/start", "docs/guide/absolute.md": "lamps/oil",
		"docs/guide/upwards.md": "x", "docs/guide/id.md": "guide/named",
		"docs/guide/permalink.md": "p.html", "docs/guide/pattern.md": "guide/pattern",
		"v2/guide/index.mdx": "2/guide?at=main", "v3.1/x.md": "3.1/x",
	}
	got := map[string]string{}
	for _, file := range files(r) {
		got[file] = strings.TrimPrefix(doc(t, r, file).URL, "https://docs.example.org/")
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	r = source(t, repo, "url", "https://docs.example.org/{version}/{page}", "include",
		[]string{"docs/README.md"}).Sync()
	if got := doc(t, r, "docs/README.md").URL; got != "" {
		t.Errorf("an address without a version: %s", got)
	}
}

func TestVersionsOfOnePage(t *testing.T) {
	t.Parallel()
	repo := gitrepotest.New(t)
	repo.Commit("one", map[string]string{
		"docs/next/lamps.mdx": prose("lamps"), "docs/next/new.md": prose("news"),
		"docs/2.10/lamps.rst": prose("lamps"), "docs/2.10/gone.rst": prose("gone"), "docs/2.10/late.rst": prose("late"),
		"docs/faq.md": prose("answers"),
	})
	s := source(t, repo, "roots", []any{
		map[string]any{"dir": "docs"}, map[string]any{"dir": "docs/next", "version": "3.0"},
		map[string]any{"dir": "docs/2.10", "version": "2.10"},
	})
	check := func(r connectortest.Result, want map[string]string) {
		t.Helper()
		got := map[string]string{}
		for _, file := range files(r) {
			rec := doc(t, r, file)
			got[file] = strings.TrimSpace(connectortest.Data[catalog.Doc](t, rec).Version + " " +
				strings.Join(rec.Tags, ","))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	}
	want := map[string]string{
		"docs/next/lamps.mdx": "3.0", "docs/next/new.md": "3.0", "docs/2.10/lamps.rst": "2.10 " +
			catalog.TagOtherVersion,
		"docs/2.10/gone.rst": "2.10", "docs/2.10/late.rst": "2.10", "docs/faq.md": "",
	}
	check(s.Sync(), want)
	// The current version gets a page that an older one had, and loses another.
	repo.Commit("two", map[string]string{"docs/next/late.md": prose("late"), "docs/next/lamps.mdx": gitrepotest.Gone})
	r := s.Sync()
	want["docs/next/late.md"], want["docs/2.10/late.rst"], want["docs/2.10/lamps.rst"] = "3.0", "2.10 "+
		catalog.TagOtherVersion, "2.10"
	delete(want, "docs/next/lamps.mdx")
	check(r, want)
	if r.Created != 1 || r.Updated != 2 || r.Deleted != 1 {
		t.Errorf("%d created, %d updated, %d deleted", r.Created, r.Updated, r.Deleted)
	}
}

func TestSyncFollowsTheRepository(t *testing.T) {
	t.Parallel()
	repo := gitrepotest.New(t)
	all := map[string]string{"docs/_oil.mdx": "Oil from afar.\n",
		"docs/lamps.mdx": "import Oil from './_oil.mdx'\nimport Gas from './_gas.mdx'\n\n<Oil />\n<Gas />\n\n" +
			prose("lamps")}
	for i := range 20 {
		all[fmt.Sprintf("docs/page%02d.md", i)] = prose(fmt.Sprint("thing ", i))
	}
	repo.Commit("one", all)
	s := source(t, repo)
	r := s.Sync()
	if r.Created != 21 {
		t.Fatalf("%d created: %v", r.Created, r.Problems)
	}
	connectortest.Unchanged(t, s, r)
	step := func(name string, created, updated, deleted int) connectortest.Result {
		t.Helper()
		r := s.Sync()
		if r.Created != created || r.Updated != updated || r.Deleted != deleted || r.Unchanged != 0 ||
			int(r.Changes) != created+updated+deleted {
			t.Errorf("%s: %d created, %d updated, %d deleted, %d put without a change; want %d, %d, %d, 0", name,
				r.Created, r.Updated, r.Deleted, r.Unchanged, created, updated, deleted)
		}
		// A run from the beginning gives the same, except for the order of ids.
		connectortest.Same(t, source(t, repo).Sync(), r)
		connectortest.Unchanged(t, s, r)
		return r
	}

	repo.Commit("not a page", map[string]string{"main.go": "package main"})
	step("another file", 0, 0, 0)

	second := repo.Commit("a page", map[string]string{"docs/page03.md": prose("something else")})
	rec := doc(t, step("a page", 0, 1, 0), "docs/page03.md")
	if rec.CreatedAt.Day() != 2 || rec.UpdatedAt.Day() != 4 || !strings.Contains(rec.URL, second) ||
		!strings.Contains(rec.Body, "something else") {
		t.Errorf("created %s, updated %s, %s", rec.CreatedAt, rec.UpdatedAt, rec.URL)
	}

	repo.Commit("what a page includes", map[string]string{"docs/_oil.mdx": "Oil from nearby.\n"})
	if rec := doc(t, step("an include", 0, 1, 0), "docs/lamps.mdx"); !strings.Contains(rec.Body, "nearby") {
		t.Errorf("has the text\n%s", rec.Body)
	}
	repo.Commit("what a page wanted to include", map[string]string{"docs/_gas.mdx": "Gas of the town.\n"})
	if rec := doc(t, step("a missing include", 0, 1, 0), "docs/lamps.mdx"); !strings.Contains(rec.Body, "of the town") {
		t.Errorf("has the text\n%s", rec.Body)
	}

	repo.Commit("rename", map[string]string{"docs/page05.md": gitrepotest.Gone, "docs/moved/five.md": prose("thing 5")})
	repo.Commit("rename again", map[string]string{"docs/moved/five.md": gitrepotest.Gone,
		"docs/moved/5.md": prose("thing 5")})
	r = step("two renames", 1, 0, 1)
	rec = doc(t, r, "docs/moved/5.md")
	if rec.CreatedAt.Day() != 2 || rec.UpdatedAt.Day() != 8 {
		t.Errorf("renamed: created %s, updated %s", rec.CreatedAt, rec.UpdatedAt)
	}
	for _, former := range []string{"docs/page05.md", "docs/moved/five.md"} {
		if found, err := s.Store.Get(t.Context(),
			catalog.Ref{Kind: catalog.KindDoc, Key: "harbour/handbook/" + former}); err != nil || found.ID != rec.ID {
			t.Errorf("by its former key: %s, %v", found.Key, err)
		}
	}
	repo.Commit("another takes the name",
		map[string]string{"docs/page05.md": prose("quite another thing, and a longer story")})
	r = step("a name taken again", 1, 1, 0)
	if rec := doc(t, r, "docs/page05.md"); rec.CreatedAt.Day() != 9 {
		t.Errorf("the other was created %s", rec.CreatedAt)
	}

	repo.Commit("delete", map[string]string{"docs/page06.md": gitrepotest.Gone})
	step("a deleted page", 0, 0, 1)
	repo.Commit("hide", map[string]string{"docs/page07.md": "---\ndraft: true\n---\n" + prose("thing 7")})
	step("a hidden page", 0, 0, 1)
	repo.Commit("still hidden", map[string]string{"main.go": "package other"})
	if r := step("a page that stays hidden", 0, 0, 0); r.Skipped != 1 {
		t.Errorf("%d skipped, want the hidden page on each run: %v", r.Skipped, r.Problems)
	}
	repo.Commit("a new page", map[string]string{"docs/new.md": prose("news")})
	step("a new page", 1, 0, 0)

	// A merge is a state of the branch; the commits on the side branch are not.
	repo.Git("checkout", "--quiet", "-b", "side", second)
	repo.Commit("aside", map[string]string{"docs/page08.md": prose("the side")})
	repo.Git("checkout", "--quiet", "main")
	repo.Clock = repo.Clock.AddDate(0, 0, 1)
	repo.Git("merge", "--quiet", "--no-ff", "--message", "merge", "side")
	if rec := doc(t, step("a merge", 0, 1, 0), "docs/page08.md"); !rec.UpdatedAt.Equal(repo.Clock) {
		t.Errorf("merged: updated %s, want %s", rec.UpdatedAt, repo.Clock)
	}
}

func TestSuite(t *testing.T) {
	t.Parallel()
	connectortest.Run(t, func(t *testing.T) connectortest.Upstream {
		repo := gitrepotest.New(t)
		all := map[string]string{}
		for i := range 12 {
			all[fmt.Sprintf("docs/page%02d.md", i)] = prose(fmt.Sprint("thing ", i))
		}
		repo.Commit("one", all)
		server := connectortest.NewServer(t, repo.Handler())
		o := map[string]any{"repository": map[string]any{"url": server.URL + "/harbour/handbook.git"}}
		return connectortest.Upstream{Config: connectortest.Config{Kind: docs.Kind, Options: o}, Server: server,
			Change: func() { repo.Commit("two", map[string]string{"docs/page03.md": prose("another thing")}) },
			Drop: func(s *connectortest.Source) {
				s.Options = maps.Clone(o)
				s.Options["exclude"] = []string{"drafts/**"}
				repo.Commit("three", map[string]string{"docs/page03.md": gitrepotest.Gone})
			}}
	})
}

func TestTheMirrorMayBeDamaged(t *testing.T) {
	t.Parallel()
	repo := gitrepotest.New(t)
	repo.Commit("one", map[string]string{"a.md": prose("a"), "b.md": prose("b")})
	work := t.TempDir()
	run := func(before []byte) (*sink, []byte, error) {
		c, err := ingest.Kinds(docs.Kind).Connector(network.Source{Name: "handbook", Kind: docs.Kind.Name,
			Options: options.Of(map[string]any{"repository": map[string]any{"url": repo.Dir}})}, ingest.Environment{WorkDir: work})
		if err != nil {
			t.Fatal(err)
		}
		out := &sink{}
		after, _, err := c.Sync(t.Context(), before, out)
		return out, after, err
	}
	_, first, err := run(nil)
	if err != nil {
		t.Fatal(err)
	}
	repo.Commit("two", map[string]string{"b.md": prose("another b")})
	if out, _, err := run(first); err != nil || out.put != 1 || out.kept != 1 {
		t.Errorf("with what was remembered: %d put, %d kept, %v", out.put, out.kept, err)
	}
	// The run failed, so it is repeated from the previous state.
	if out, _, err := run(first); err != nil || out.put != 1 || out.kept != 1 {
		t.Errorf("again: %d put, %d kept, %v", out.put, out.kept, err)
	}
	if out, _, err := run([]byte("../../etc/passwd x")); err != nil || out.put != 2 {
		t.Errorf("with a strange state: %d put, %v", out.put, err)
	}

	// An object of the mirror is lost: the run fails, the next one starts over.
	mirror := filepath.Join(work, "repository.git")
	packs, err := filepath.Glob(filepath.Join(mirror, "objects", "pack", "*.pack"))
	if err != nil {
		t.Fatal(err)
	}
	for _, pack := range packs { // into files of their own
		data, err := os.ReadFile(pack)
		if err == nil {
			err = os.Remove(pack)
		}
		cmd := exec.CommandContext(t.Context(), "git", "--git-dir="+mirror, "unpack-objects", "-q")
		cmd.Stdin = bytes.NewReader(data)
		if err := errors.Join(err, cmd.Run()); err != nil {
			t.Fatal(err)
		}
	}
	blob := repo.Git("rev-parse", "HEAD:b.md")
	if err := os.RemoveAll(filepath.Join(mirror, "objects", blob[:2])); err != nil {
		t.Fatal(err)
	}
	if out, _, err := run(nil); err == nil {
		t.Errorf("a damaged mirror: %d put", out.put)
	}
	if out, _, err := run(nil); err != nil || out.put != 2 {
		t.Errorf("after a damaged mirror: %d put, %v", out.put, err)
	}
}

// sink counts calls.
type sink struct {
	ingest.Sink
	put, kept int
}

func (s *sink) Put(ctx context.Context, _ catalog.Entry) error {
	s.put++
	return ctx.Err()
}

func (s *sink) Begin([]byte) error  { return nil }
func (s *sink) Keep(catalog.Ref)    { s.kept++ }
func (s *sink) Warn(string, string) {}
func (s *sink) Progress(int, int)   {}

func TestBadOptions(t *testing.T) {
	t.Parallel()
	repository := map[string]any{"url": "https://forge.example.org/harbour/handbook"}
	tests := map[string]struct {
		options map[string]any
		want    string
	}{
		"no repository": {map[string]any{}, "repository: want its url"},
		"an address of nothing": {map[string]any{"repository": map[string]any{"url": "ftp://forge.example.org/x"}},
			"not a repository address"},
		"a branch as an option": {map[string]any{"repository": map[string]any{"url": "x", "branch": "--x"}},
			"not a branch name"},
		"an unknown extension": {map[string]any{"repository": repository, "extensions": []string{".md", ".docx"}},
			".docx"},
		"no extension": {map[string]any{"repository": repository, "extensions": []string{}}, "extensions"},
		"a root upwards": {map[string]any{"repository": repository,
			"roots": []any{map[string]any{"dir": "a/../../b"}}}, "directory of the repository"},
		"a root twice": {map[string]any{"repository": repository,
			"roots": []any{map[string]any{"dir": "docs"}, map[string]any{"dir": "docs/"}}}, "twice"},
		"an unknown placeholder": {map[string]any{"repository": repository, "url": "https://x.example.org/{file}"},
			"unknown {file}"},
		"a folder and a repository": {map[string]any{"repository": repository, "folder": "pages"}, "want one of them"},
		"a folder of no machine":    {map[string]any{"folder": "pages"}, "want an absolute path"},
		"a commit of a folder": {map[string]any{"folder": "/pages", "url": "https://x.example.org/{commit}"},
			"unknown {commit}; known are {repo}, {path},"},
		"no web address": {map[string]any{"repository": repository, "url": "{page}"}, "web address"},
		"no web address of one": {map[string]any{"repository": repository,
			"roots": []any{map[string]any{"dir": "d", "url": "x"}}}, "web address"},
		"no name": {map[string]any{"repository": map[string]any{"url": "/"}}, "name"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			err := connectortest.Open(docs.Kind, tt.options)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v; want %q", err, tt.want)
			}
		})
	}
}
