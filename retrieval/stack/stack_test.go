package stack

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"almanac/embed"
	"almanac/retrieval"
	"almanac/retrieval/index"
	"almanac/retrieval/passage"
	"almanac/retrieval/ranking"
)

func TestOneProcessHoldsTheLock(t *testing.T) {
	dir := t.TempDir()
	first, err := TryLock(t.Context(), dir, nil)
	if err != nil || first == nil {
		t.Fatal(first, err)
	}
	second, err := TryLock(t.Context(), dir, nil)
	if err != nil || second != nil {
		t.Fatalf("a second lock: %v, %v", second, err)
	}
	for range 2 { // a released lock stays released
		if err := first.Unlock(); err != nil {
			t.Fatal(err)
		}
	}
	if err := unlock(second); err != nil {
		t.Errorf("unlock of none: %v", err)
	}
	third, err := TryLock(t.Context(), dir, nil)
	if err != nil || third == nil {
		t.Fatalf("after it was released: %v, %v", third, err)
	}
	if err := third.Unlock(); err != nil {
		t.Error(err)
	}
	if _, err := TryLock(t.Context(), filepath.Join(dir, "none"), nil); err == nil {
		t.Error("a directory that does not exist is locked")
	}
}

// TestTheTransformerInTheProgram builds an index with it as with any model: in a
// generation of its own, and with vectors that are kept.
func TestTheTransformerInTheProgram(t *testing.T) {
	cfg := newConfig(t, 3)
	cfg.Embed = Embed{Model: embed.Transformer}
	models := map[string]bool{}
	unknown := 0
	cfg.Embedded = func(_, n int) { unknown += n }
	for range 2 {
		s, err := Rebuild(t.Context(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		if n := found(t, s.Searcher); n != 3 {
			t.Errorf("it finds %d documents", n)
		}
		other := retrieval.Request{Query: "football world cup winner", Limit: 10}
		if res, err := s.Searcher.Search(t.Context(), other); err != nil || res.Total > 0 {
			t.Errorf("of another subject it finds %d documents, %v", res.Total, err)
		}
		models[s.Searcher.Status(t.Context()).Model] = true
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	if len(models) != 1 || !models["bge-small-en-v1.5-int8-1"] {
		t.Errorf("models %v", models)
	}
	if unknown != 3+4 { // passages once, and the query of each search
		t.Errorf("%d texts were embedded", unknown)
	}
}

func TestASecondStackReads(t *testing.T) {
	cfg := newConfig(t, 10)
	writer, err := Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := writer.CatchUp(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	put(t, cfg.Store, 10, 12)
	reader, err := Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if !reader.readOnly || writer.readOnly {
		t.Errorf("the first reads only: %v, the second: %v", writer.readOnly, reader.readOnly)
	}
	if err := reader.CatchUp(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	if a, b := found(t, writer.Searcher), found(t, reader.Searcher); a != 10 || b != 12 {
		t.Errorf("the writer finds %d documents and the reader, which saw two more, %d", a, b)
	}
	if err := reader.Close(); err != nil {
		t.Error(err)
	}
	if err := writer.Close(); err != nil {
		t.Error(err)
	}
	lock, err := TryLock(t.Context(), cfg.Dir, nil)
	if err != nil || lock == nil {
		t.Fatalf("the lock of a closed stack: %v, %v", lock, err)
	}
	if _, err := Rebuild(t.Context(), cfg); err == nil {
		t.Error("an index is rebuilt that another process writes")
	}
	if files, err := snapshots(cfg.Dir); err != nil || len(files) != 2 {
		t.Errorf("after the refusal there are the snapshots %v, %v", files, err)
	}
	if err := lock.Unlock(); err != nil {
		t.Error(err)
	}
}

func TestRebuildRemovesWhatIsWrong(t *testing.T) {
	cfg := newConfig(t, 10)
	s, err := Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.CatchUp(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	left := filepath.Join(cfg.Dir, "keyword-99-1.snapshot")
	if err := os.MkdirAll(left, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(left, "manifest"), []byte("of another generation"), 0o600); err != nil {
		t.Fatal(err)
	}
	if s, err = Rebuild(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	if n := found(t, s.Searcher); n != 10 {
		t.Errorf("%d documents are found", n)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(left); !os.IsNotExist(err) {
		t.Errorf("a snapshot of another generation is still there: %v", err)
	}
}

// TestASnapshotAheadOfTheCatalogIsNotUsed puts an older catalog under newer
// snapshots, and writes to it until its log is longer than it was.
func TestASnapshotAheadOfTheCatalogIsNotUsed(t *testing.T) {
	cfg := newConfig(t, 5)
	indexed := func() {
		s, err := Open(t.Context(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(s.CatchUp(t.Context(), true), s.Close()); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(cfg.Dir, "catalog.db")
	indexed()
	if err := cfg.Store.Close(); err != nil {
		t.Fatal(err)
	}
	older, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	cfg.Store = openStore(t, cfg.Dir)
	put(t, cfg.Store, 5, 15)
	indexed()
	if err := cfg.Store.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, older, 0o600); err != nil {
		t.Fatal(err)
	}
	cfg.Store = openStore(t, cfg.Dir)
	put(t, cfg.Store, 100, 130)
	for _, c := range []struct {
		name string
		open func(context.Context, Config) (*Stack, error)
		stay bool // the snapshots do
	}{{"reader", OpenReader, true}, {"writer", Open, false}} {
		s, err := c.open(t.Context(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		if files, err := snapshots(cfg.Dir); err != nil || (len(files) == 2) != c.stay {
			t.Errorf("%s: then there are %v, %v", c.name, files, err)
		}
		if err := s.CatchUp(t.Context(), true); err != nil {
			t.Fatal(err)
		}
		words, err := s.Searcher.Search(t.Context(), retrieval.Request{Query: "number12", Profile: ranking.DefaultName})
		if n := found(t, s.Searcher); n != 35 || err != nil || len(words.Degraded) > 0 {
			t.Errorf("%s: %d documents are found, %v, degraded %v", c.name, n, err, words.Degraded)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestWhoLooksMakesNoGeneration opens an index whose passages were cut by other rules, as the release before left it.
func TestWhoLooksMakesNoGeneration(t *testing.T) {
	cfg := newConfig(t, 5)
	look := func() *Earlier {
		t.Helper()
		s, err := OpenReader(t.Context(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		if lag, _ := s.Follower.Lag(); lag == 0 {
			t.Error("nothing is to be indexed")
		}
		earlier, err := s.Earlier(t.Context())
		if err = errors.Join(err, s.Close()); err != nil {
			t.Fatal(err)
		}
		return earlier
	}
	if earlier := look(); earlier != nil {
		t.Errorf("before there is any: %v", earlier)
	}
	was := strings.Replace(index.Fingerprint("a-model"), "passages ", "passages 0", 1)
	g, err := cfg.Store.OpenGeneration(t.Context(), was)
	if err == nil {
		err = origin{Model: "a-model", Complete: true}.save(t.Context(), cfg.Store, g)
	}
	if err != nil {
		t.Fatal(err)
	}
	said := fmt.Sprint(look())
	for _, want := range []string{"passages " + passage.Version + " instead of 0" + passage.Version,
		"that of a-model answers"} {
		if !strings.Contains(said, want) {
			t.Errorf("%q does not say %q", said, want)
		}
	}
	if strings.Contains(said, "analysis") {
		t.Errorf("the analysis is as it was, and %q", said)
	}
	if all, err := cfg.Store.Generations(t.Context()); err != nil || len(all) != 1 {
		t.Errorf("then there are %v, %v", all, err)
	}
}

func TestAFailedOpenReleasesTheLock(t *testing.T) {
	cfg := newConfig(t, 1)
	cfg.Profiles = nil
	if _, err := Open(t.Context(), cfg); err == nil {
		t.Fatal("a stack without a profile opens")
	}
	lock, err := TryLock(t.Context(), cfg.Dir, nil)
	if err != nil || lock == nil {
		t.Fatalf("afterwards the lock is held: %v, %v", lock, err)
	}
	if err := lock.Unlock(); err != nil {
		t.Error(err)
	}
}
