package snapshot_test

import (
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	gosync "sync"
	"testing"
	"time"

	"almanac/catalog"
	"almanac/ingest"
	"almanac/ingest/networks"
	"almanac/ingest/snapshot"
	"almanac/testing/race"
)

// corpusDir is where a real snapshot may be: beside the repository.
func corpusDir(t *testing.T) string {
	t.Helper()
	shared := os.Getenv("ALMANAC_SHARED")
	if shared == "" {
		dir, err := os.Getwd()
		if err != nil {
			t.Fatal(err)
		}
		for dir != filepath.Dir(dir) {
			if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
				break
			}
			dir = filepath.Dir(dir)
		}
		shared = filepath.Join(filepath.Dir(dir), "shared")
	}
	dir := filepath.Join(shared, "corpus")
	if _, err := os.Stat(filepath.Join(dir, "manifest.jsonl")); err != nil {
		t.Skipf("no snapshot: set ALMANAC_SHARED to a directory with corpus/manifest.jsonl (%v)", err)
	}
	return dir
}

// syncCorpus reads every source of the corpus preset, all at once.
func syncCorpus(t *testing.T) map[string]*recorder {
	t.Helper()
	dir := corpusDir(t)
	n, err := networks.Load("corpus")
	if err != nil {
		t.Fatal(err)
	}
	registry := ingest.Kinds(snapshot.Kind)
	all := map[string]*recorder{}
	for _, src := range n.Sources {
		all[src.Name] = newRecorder()
	}
	var wg gosync.WaitGroup
	for _, src := range n.Sources {
		wg.Go(func() {
			c, err := registry.Connector(src, ingest.Environment{Network: n, Now: time.Now,
				Log: slog.New(slog.DiscardHandler), CorpusDir: dir})
			if err != nil {
				t.Error(err)
				return
			}
			out := all[src.Name]
			if o, err := c.Sync(t.Context(), "", out); err != nil || !o.Complete {
				t.Errorf("%s: %v, complete %v", src.Name, err, o.Complete)
			}
			t.Logf("%-14s %5d records, %4d events, %d skipped, %d warnings", src.Name, len(out.entries),
				len(out.events), len(out.skips), len(out.warns))
		})
	}
	wg.Wait()
	return all
}

// TestCorpus holds the records of a real snapshot against its own facts: what
// each source must yield, nothing skipped, every file a record that should be.
func TestCorpus(t *testing.T) {
	race.Skip(t)
	if testing.Short() {
		t.Skip("reads thousands of files: run without -short")
	}
	all := syncCorpus(t)
	for source, out := range all {
		if len(out.skips) > 0 {
			t.Errorf("%s skipped %q", source, out.skips)
		}
		if out.done != out.total {
			t.Errorf("%s: progress ended at %d of %d", source, out.done, out.total)
		}
	}
	t.Run("counts", func(t *testing.T) {
		var numbered, drafts, top, children int
		for _, e := range all["cips"].entries {
			switch {
			case e.Record.Kind != catalog.KindCIP:
			case strings.HasPrefix(e.Record.Key, "PR-"):
				drafts++
			default:
				numbered++
			}
		}
		releases, sections := 0, 0
		for _, e := range all["release-notes"].entries {
			if strings.Contains(e.Record.Key, "#") {
				sections++
			} else {
				releases++
			}
		}
		for _, e := range all["grants"].entries {
			if e.Parent == (catalog.Ref{}) {
				top++
			} else {
				children++
			}
		}
		// 378 pull requests have a stored text, those of the 37 that added the
		// 41 merged files among them; two are bulk edits. So 376 proposals, and
		// of the 41 files 37 are their pull request's own and 4 its children.
		for name, n := range map[string][2]int{
			"numbered": {numbered, 109}, "drafts": {drafts, 40},
			"attachments": {len(all["cips"].entries) - numbered - drafts, 105},
			"grants":      {top, 376}, "further files of grants": {children, 4},
			"docs":     {len(all["docs"].entries), 1506},
			"releases": {releases, 307}, "releases of pages of many": {sections, 207},
			"repositories": {len(all["ecosystem"].entries), 13},
			// As many as another reader finds: TestRealDescriptions.
			"endpoints": {len(all["apis"].entries), 2403},
		} {
			if n[0] != n[1] {
				t.Errorf("%d %s, want %d", n[0], name, n[1])
			}
		}
	})
	t.Run("records", func(t *testing.T) { checkRecords(t, all) })
	t.Run("titles", func(t *testing.T) { checkTitles(t, all) })
	t.Run("includes_are_in_place", func(t *testing.T) {
		including := 0
		for _, e := range all["docs"].entries {
			data, err := catalog.Decode[catalog.Doc](e.Record)
			if err != nil {
				t.Fatal(err)
			}
			if len(data.Includes) > 0 {
				including++
			}
		}
		if including < 128 { // pages that import a snippet and use it
			t.Errorf("%d pages include something", including)
		}
	})
}

// checkRecords tests what every record must have.
func checkRecords(t *testing.T, all map[string]*recorder) {
	seen := map[catalog.Ref]bool{}
	textless, dated := 0, 0
	for source, out := range all {
		for _, e := range out.entries {
			r := e.Record
			if seen[r.Ref()] {
				t.Errorf("%s appears twice", r.Ref())
			}
			seen[r.Ref()] = true
			if r.Title == "" || r.Path == "" || r.Container == "" || len(r.Data) == 0 {
				t.Errorf("%s: %s lacks title, path, page, container or data", source, r.Ref())
			}
			if !strings.HasPrefix(r.URL, "https://") || strings.ContainsAny(r.URL, "{} ") {
				t.Errorf("%s has address %q", r.Ref(), r.URL)
			}
			if r.Body == "" && r.Kind != catalog.KindAttachment {
				textless++
			}
			if r.Kind == catalog.KindCIP && !r.CreatedAt.IsZero() && !r.UpdatedAt.IsZero() {
				dated++
			}
		}
	}
	if textless != 12 { // ten files of no bytes, two pages that a build would fill
		t.Errorf("%d records without text", textless)
	}
	if dated != 149 {
		t.Errorf("%d proposals and drafts have both dates", dated)
	}
}

// checkTitles tests that titles say what a record is about.
func checkTitles(t *testing.T, all map[string]*recorder) {
	fileLike := regexp.MustCompile(
		`(?i)^[\w-]+\.(md|mdx|rst)$|^[a-z0-9]+([_-][a-z0-9]+){2,}$|^(index|overview|introduction|readme|release notes|untitled|reference|tutorial|\d[\d.]*)$`)
	for _, source := range []string{"cips", "grants", "docs", "release-notes", "ecosystem"} {
		n, bad := 0, []string{}
		for _, e := range all[source].entries {
			if e.Record.Kind == catalog.KindAttachment {
				continue // a file's name is its title
			}
			n++
			if fileLike.MatchString(e.Record.Title) {
				bad = append(bad, e.Record.Path+": "+e.Record.Title)
			}
		}
		t.Logf("%s: %d of %d titles are like a file's or generic", source, len(bad), n)
		if len(bad)*20 > n {
			t.Errorf("%s: %q", source, bad)
		}
	}
}
