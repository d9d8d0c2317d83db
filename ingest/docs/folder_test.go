package docs_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"almanac/catalog"
	"almanac/ingest"
	"almanac/ingest/docs"
	"almanac/testing/connectortest"
)

// plain is a folder of pages without git.
type plain struct {
	t   testing.TB
	dir string
}

func newPlain(t testing.TB, pages map[string]string) plain {
	t.Helper()
	f := plain{t, filepath.Join(t.TempDir(), "handbook")}
	for name, text := range pages {
		f.write(name, text, 1)
	}
	return f
}

// write writes a page to the folder, dated a day of January 2025.
func (f plain) write(name, text string, day int) {
	f.t.Helper()
	file := filepath.Join(f.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		f.t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		f.t.Fatal(err)
	}
	f.touch(name, day)
}

func (f plain) touch(name string, day int) {
	f.t.Helper()
	at := time.Date(2025, 1, day, 12, 0, 0, 0, time.UTC)
	if err := os.Chtimes(filepath.Join(f.dir, name), at, at); err != nil {
		f.t.Fatal(err)
	}
}

func (f plain) config(more map[string]any) connectortest.Config {
	o := map[string]any{"folder": f.dir}
	for name, value := range more {
		o[name] = value
	}
	return connectortest.Config{Kind: docs.Kind, Options: o}
}

func TestAFolder(t *testing.T) {
	t.Parallel()
	f := newPlain(t, map[string]string{
		"index.md":       "# Harbour\n" + prose("the harbour"),
		"guide/lamps.md": "# Lamps\n\nSee " + prose("the lamp"),
		"guide/old.md":   "# Old\n" + prose("what was"),
		"guide/use.mdx":  "import Oil from '../oil.mdx'\n\n# Use\n\n<Oil />\n" + prose("use"),
		"oil.mdx":        "# Oil\n\nWhale oil is not used. " + prose("oil"),
		".git/x.md":      prose("git"), "node_modules/p/a.md": prose("p"), "notes.json": "{}",
	})
	s := connectortest.NewSource(t, f.config(map[string]any{"url": "https://docs.example.org/{path}"}))
	r := s.Sync()
	want := []string{
		"doc handbook/guide/lamps.md", "doc handbook/guide/old.md", "doc handbook/guide/use.mdx",
		"doc handbook/index.md",
		"doc handbook/oil.mdx",
	}
	if diff := cmp.Diff(want, r.Keys()); diff != "" || !r.Complete {
		t.Fatalf("complete %v (-want +got)\n%s", r.Complete, diff)
	}
	lamps := r.Get(t, catalog.KindDoc, "handbook/guide/lamps.md")
	day := func(d int) time.Time { return time.Date(2025, 1, d, 12, 0, 0, 0, time.UTC) }
	if lamps.Title != "Lamps" || lamps.URL != "https://docs.example.org/guide/lamps.md" ||
		!lamps.UpdatedAt.Equal(day(1)) || !lamps.CreatedAt.IsZero() || lamps.Container != "handbook" ||
		lamps.Category != "guide" {
		t.Errorf("%+v", lamps)
	}
	connectortest.Unchanged(t, s, r)

	f.touch("guide/lamps.md", 5)
	if r = s.Sync(); r.Changes != 0 {
		t.Errorf("a page that was only touched: %d changes", r.Changes)
	}
	f.write("guide/lamps.md", "# Lamps\n"+prose("another lamp"), 6)
	if err := os.Remove(filepath.Join(f.dir, "guide/old.md")); err != nil {
		t.Fatal(err)
	}
	f.write("oil.mdx", "# Oil\n\nOnly olive oil is used. "+prose("oil"), 7)
	r = s.Sync()
	if r.Updated != 3 || r.Deleted != 1 || r.Created != 0 {
		t.Errorf("a changed page, an included one and a deleted one: %d updated, %d deleted, %d created",
			r.Updated, r.Deleted, r.Created)
	}
	got := r.Get(t, catalog.KindDoc, "handbook/guide/lamps.md")
	if !got.UpdatedAt.Equal(day(6)) || !strings.Contains(got.Body, "another lamp") {
		t.Errorf("%+v", got)
	}
	if use := r.Get(t, catalog.KindDoc, "handbook/guide/use.mdx"); !strings.Contains(use.Body, "Only olive oil") {
		t.Errorf("a page that includes another: %s", use.Body)
	}
}

func TestNothingOutsideAFolderIsRead(t *testing.T) {
	t.Parallel()
	f := newPlain(t, map[string]string{
		"a.md": prose("a"), "large.md": strings.Repeat("x", ingest.MaxText+1), "binary.md": "\x00\x01" + prose("b"),
	})
	outside := filepath.Join(t.TempDir(), "secret.md")
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.WriteFile(outside, []byte(prose("the secret")), 0o644))
	must(os.Symlink(outside, filepath.Join(f.dir, "leak.md")))
	must(os.Symlink(filepath.Dir(outside), filepath.Join(f.dir, "leak")))
	must(os.Symlink("../../../../../../../../etc/passwd", filepath.Join(f.dir, "up.md")))
	must(os.Symlink("a.md", filepath.Join(f.dir, "same.md")))
	must(os.Symlink("loop.md", filepath.Join(f.dir, "loop.md")))
	must(os.Symlink(".", filepath.Join(f.dir, "around")))
	must(syscall.Mkfifo(filepath.Join(f.dir, "pipe.md"), 0o644))
	must(os.WriteFile(filepath.Join(f.dir, "b.mdx"), []byte("import S from './leak.md'\n\n<S />\n"+prose("b")), 0o644))
	s := connectortest.NewSource(t, f.config(nil))
	r := s.Sync()
	want := []string{"doc handbook/a.md", "doc handbook/b.mdx", "doc handbook/same.md"}
	if diff := cmp.Diff(want, r.Keys()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	for _, rec := range r.Records {
		if strings.Contains(rec.Body, "secret") {
			t.Errorf("%s has content from outside", rec.Key)
		}
	}
	said := ""
	for _, p := range r.Problems {
		said += p.Locator + ": " + p.Message + "\n"
	}
	for _, name := range []string{"leak.md: not read: it is a broken link", "leak: not read: it is a broken link", "up.md",
		"large.md: is larger than 2 MB", "binary.md", "pipe.md: not read: not a regular file"} {
		if !strings.Contains(said, name) {
			t.Errorf("no problem is reported for %s:\n%s", name, said)
		}
	}
}

func TestAPageThatCannotBeReadStays(t *testing.T) {
	t.Parallel()
	if os.Getuid() == 0 {
		t.Skip("the superuser reads everything")
	}
	f := newPlain(t, map[string]string{"a.md": prose("a"), "b.md": prose("b")})
	s := connectortest.NewSource(t, f.config(nil))
	before := s.Sync()
	if err := os.Chmod(filepath.Join(f.dir, "b.md"), 0); err != nil {
		t.Fatal(err)
	}
	f.write("a.md", prose("another a"), 3)
	r := s.Sync()
	if r.Skipped != 1 || r.Deleted != 0 || r.Updated != 1 || !slices.Equal(r.Keys(), before.Keys()) {
		t.Errorf("%+v", r.Report)
	}
	if err := os.Chmod(filepath.Join(f.dir, "b.md"), 0o644); err != nil {
		t.Fatal(err)
	}
	if r = s.Sync(); r.Skipped != 0 || len(r.Records) != 2 {
		t.Errorf("%+v", r.Report)
	}
}

func TestAFolderThatIsGoneFails(t *testing.T) {
	t.Parallel()
	f := newPlain(t, map[string]string{"a.md": prose("a"), "b.md": prose("b")})
	s := connectortest.NewSource(t, f.config(nil))
	s.Sync()
	if err := os.RemoveAll(f.dir); err != nil {
		t.Fatal(err)
	}
	if r := s.Try(t.Context()); r.Err == nil || !strings.Contains(r.Err.Error(), "option folder") ||
		len(r.Records) != 2 {
		t.Errorf("%v, %d records", r.Err, len(r.Records))
	}
	if err := os.WriteFile(f.dir, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if r := s.Try(t.Context()); r.Err == nil || len(r.Records) != 2 {
		t.Errorf("a file: %v, %d records", r.Err, len(r.Records))
	}
}

// TestADirectoryThatCannotBeReadIsSaid: the rest is read, and what was read of it stays.
func TestADirectoryThatCannotBeReadIsSaid(t *testing.T) {
	t.Parallel()
	if os.Getuid() == 0 {
		t.Skip("the superuser reads everything")
	}
	f := newPlain(t, map[string]string{"a.md": prose("a"), "shut/b.md": prose("b")})
	s := connectortest.NewSource(t, f.config(nil))
	before := s.Sync()
	shut := filepath.Join(f.dir, "shut")
	if err := os.Chmod(shut, 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(shut, 0o755) })
	f.write("a.md", prose("another a"), 3)
	for updated := range 2 { // also when nothing has changed
		r := s.Sync()
		if r.Skipped != 1 || r.Updated != 1-updated || !slices.Equal(r.Keys(), before.Keys()) ||
			r.Remark != "handbook/shut: could not be read: permission denied" {
			t.Errorf("%+v", r.Report)
		}
	}
	if err := os.Chmod(shut, 0o755); err != nil {
		t.Fatal(err)
	}
	if r := s.Sync(); r.Skipped != 0 || r.Remark != "" || len(r.Records) != 2 {
		t.Errorf("%+v", r.Report)
	}
}

// TestAFolderWithoutPagesIsNeverOK: on every run.
func TestAFolderWithoutPagesIsNeverOK(t *testing.T) {
	t.Parallel()
	s := connectortest.NewSource(t, newPlain(t, map[string]string{"notes.txt": "Notes."}).config(nil))
	for range 2 {
		r := s.Sync()
		if r.Skipped != 1 || !strings.HasPrefix(r.Verdict(), "no records; handbook: not read: there is no page") {
			t.Errorf("%q, %+v", r.Verdict(), r.Report)
		}
	}
}
