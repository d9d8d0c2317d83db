package embedded_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"almanac/retrieval/keyword"
	"almanac/retrieval/keyword/embedded"
	"almanac/retrieval/passage"
	"almanac/retrieval/snapshot"
	"almanac/testing/soak"
)

// everything matches nearly all records of zipfRecords.
func everything() keyword.Query {
	var q keyword.Query
	for n := range 60 {
		q.Terms = append(q.Terms, keyword.Term{Text: fmt.Sprintf("w%d", n), Weight: 1})
	}
	return q
}

func search(t testing.TB, e *embedded.Engine, q keyword.Query) []keyword.Hit {
	t.Helper()
	hits, err := e.Search(t.Context(), q, passage.Filter{}, 1000)
	if err != nil {
		t.Fatal(err)
	}
	return hits
}

// smallIndex has three segments, two with deletions.
func smallIndex(t testing.TB, path string) *embedded.Engine {
	t.Helper()
	e := open(t, embedded.Config{Path: path})
	records := zipfRecords(5, 30)
	for i, b := range []keyword.Batch{
		{Records: records[:20]}, {Records: records[20:], Delete: []int64{3}}, {Records: records[24:25]},
	} {
		b.Checkpoint = int64(i + 1)
		if err := e.Apply(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
	if err := e.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	return e
}

func TestADamagedSnapshotIsEmptyOrWhole(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "keyword")
	want := search(t, smallIndex(t, dir), everything())
	names, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(names) != 6 { // the manifest, segments and deletions
		t.Fatalf("files %v, error %v", names, err)
	}
	for _, name := range names {
		whole, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, data := range [][]byte{nil, whole[:len(whole)/2], whole} {
			if err := os.WriteFile(name, data, 0o600); err != nil {
				t.Fatal(err)
			}
			var log bytes.Buffer
			e := open(t, embedded.Config{Path: dir, ReadOnly: true, Log: slog.New(slog.NewTextHandler(&log, nil))})
			got := search(t, e, everything())
			used := e.At() == 3 && slices.Equal(got, want)
			unused := e.At() == 0 && len(got) == 0 && strings.Contains(log.String(), "snapshot not used")
			if intact := len(data) == len(whole); intact && !used || !intact && !unused {
				t.Fatalf("%d of %d bytes of %s: checkpoint %d, %d hits, log %s", len(data), len(whole), name, e.At(),
					len(got), &log)
			}
		}
	}
}

func TestSnapshotRules(t *testing.T) {
	t.Run("a reader follows in memory and writes nothing", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "keyword")
		smallIndex(t, path)
		before := files(t, path)
		e := open(t, embedded.Config{Path: path, ReadOnly: true})
		if e.At() != 3 {
			t.Fatalf("checkpoint %d", e.At())
		}
		b := keyword.Batch{Records: []keyword.Record{{ID: 77, Title: text("news")}}, Checkpoint: 4}
		if err := e.Apply(t.Context(), b); err != nil {
			t.Fatal(err)
		}
		if err := e.Flush(t.Context()); err != nil {
			t.Errorf("flush: %v", err)
		}
		news := keyword.Query{Unit: keyword.Documents, Terms: []keyword.Term{{Text: "news", Weight: 1}}}
		if len(search(t, e, news)) != 1 || e.At() != 4 {
			t.Errorf("the batch is not there: checkpoint %d", e.At())
		}
		if !maps.Equal(before, files(t, path)) {
			t.Error("the files changed")
		}
	})
	t.Run("another scoring needs other lists", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "keyword")
		smallIndex(t, path)
		if e := open(t, embedded.Config{Path: path, ReadOnly: true, Scoring: testScoring}); e.At() != 0 {
			t.Errorf("checkpoint %d", e.At())
		}
	})
}

// files returns the sizes of a directory's files.
func files(t testing.TB, dir string) map[string]int64 {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	sizes := map[string]int64{}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		sizes[e.Name()] = info.Size()
	}
	return sizes
}

// written returns the bytes of the files that are new since before, without
// the manifest, which is always written.
func written(t testing.TB, dir string, before map[string]int64) (n int64) {
	t.Helper()
	for name, size := range files(t, dir) {
		if _, old := before[name]; !old {
			n += size
		}
	}
	return n
}

func TestAFlushWritesWhatIsNew(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "keyword")
	e := open(t, embedded.Config{Path: dir})
	records := zipfRecords(9, 4000)
	flush := func(b keyword.Batch) (n int64) {
		t.Helper()
		before := map[string]int64{"manifest": 0}
		if b.Checkpoint > 1 {
			before = files(t, dir)
		}
		if err := e.Apply(t.Context(), b); err != nil {
			t.Fatal(err)
		}
		if err := e.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n = files(t, dir)["manifest"]; n > 4<<10 {
			t.Errorf("a manifest of %d bytes", n)
		}
		return written(t, dir, before)
	}
	all := flush(keyword.Batch{Records: records, Checkpoint: 1})
	if n := flush(keyword.Batch{Checkpoint: 2}); n != 0 {
		t.Errorf("%d bytes for a checkpoint", n)
	}
	if n := flush(keyword.Batch{Delete: []int64{7}, Checkpoint: 3}); n > 600 {
		t.Errorf("%d bytes for a deletion from %d records", n, len(records))
	}
	if n := flush(keyword.Batch{Records: records[20:21], Checkpoint: 4}); n > 4<<10 {
		t.Errorf("%d bytes for a record, %d for all", n, all)
	}
	reopened := open(t, embedded.Config{Path: dir})
	if a, b := search(t, e, everything()), search(t, reopened, everything()); !slices.Equal(a, b) {
		t.Errorf("%d hits and %d after reopening differ", len(a), len(b))
	}
	before := files(t, dir)
	if err := reopened.Apply(t.Context(), keyword.Batch{Checkpoint: 5}); err != nil {
		t.Fatal(err)
	}
	if err := reopened.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := written(t, dir, before); n != 0 {
		t.Errorf("%d bytes for a checkpoint after reopening", n)
	}
}

const flushPath = "KEYWORD_TEST_FLUSH"

// flushForever is the child of the next test: it writes snapshots, each with
// its checkpoint as a word, and says so, until it is killed.
func flushForever() bool {
	path := os.Getenv(flushPath)
	if path == "" {
		return false
	}
	e, err := embedded.Open(embedded.Config{Path: path})
	for n := e.At() + 1; err == nil; n++ {
		b := keyword.Batch{Records: append(zipfRecords(uint64(n), 200),
			keyword.Record{ID: 5000, Title: text(fmt.Sprint("checkpoint", n))}), Checkpoint: n}
		if err = e.Apply(context.Background(), b); err == nil {
			err = e.Flush(context.Background())
		}
		fmt.Println(n)
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
	return true
}

func TestKillDuringFlushLeavesTheOldOrTheNewSnapshot(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keyword")
	rng := rand.New(rand.NewPCG(3, 4))
	last := int64(0)
	for range soak.Rounds(30) {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), flushPath+"="+path)
		cmd.Stderr = os.Stderr
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		first := make([]byte, 1)
		if _, err := io.ReadFull(out, first); err != nil {
			t.Fatalf("the child says nothing: %v", err)
		}
		time.Sleep(time.Duration(rng.IntN(60)) * time.Millisecond)
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		said, _ := io.ReadAll(out)
		cmd.Wait()
		complete := string(first) + string(said)
		complete = complete[:strings.LastIndexByte(complete, '\n')+1] // the last line may be cut
		told := int64(0)
		for line := range strings.FieldsSeq(complete) {
			fmt.Sscan(line, &told)
		}
		e := open(t, embedded.Config{Path: path, ReadOnly: true})
		n := e.At()
		if n < last+1 || n < told || n > told+2 && told > 0 {
			t.Fatalf("checkpoint %d after %d was flushed", n, told)
		}
		q := keyword.Query{Unit: keyword.Documents,
			Terms: []keyword.Term{{Text: fmt.Sprint("checkpoint", n), Weight: 1}}}
		if hits := search(t, e, q); len(hits) != 1 {
			t.Fatalf("the snapshot of checkpoint %d does not have its record", n)
		}
		last = n
	}
}

// FuzzSegment changes the content of segments, with checksums that are right:
// nothing may panic, and what is read must be searchable.
func FuzzSegment(f *testing.F) {
	tiny := []keyword.Record{
		{ID: 1, Title: text("a", "+ab"),
			Passages: []keyword.Passage{{ID: passage.NewID(1, 0), Body: text("b", "c", "b")}}},
		{ID: 9, Path: text("c", "a"), Attributes: passage.Attributes{Kind: "k1"}}}
	var segments [][][]byte // sections
	for _, records := range [][]keyword.Record{tiny, zipfRecords(5, 40)} {
		segments = append(segments, sections(f, records))
	}
	for section := range segments[0] {
		for at := range 6 {
			f.Add(0, section, at*5, byte(0xff), 0)
			f.Add(1, section, at*49, byte(1), 0)
		}
		f.Add(1, section, 0, byte(0), 4)
	}
	dir := filepath.Join(f.TempDir(), "keyword")
	f.Fuzz(func(t *testing.T, which, section, at int, change byte, cut int) {
		all := segments[uint(which)%2]
		section = int(uint(section) % uint(len(all)))
		changed := bytes.Clone(all[section])
		if len(changed) > 0 {
			changed[uint(at)%uint(len(changed))] ^= change
		}
		changed = changed[:len(changed)-min(len(changed), max(cut, 0))]
		e := open(t, embedded.Config{Path: stored(t, dir, all, section, changed), ReadOnly: true})
		for unit := range keyword.Unit(2) {
			for _, q := range []keyword.Query{everything(),
				{Terms: []keyword.Term{{Text: "a", Weight: 1}, {Text: "c", Weight: 1}}},
				{Phrases: [][]keyword.Term{{{Text: "w0", Weight: 1}, {Text: "w1", Weight: 1}}}}} {
				q.Unit = unit
				search(t, e, q)
			}
		}
		e.Compact()
		search(t, e, everything())
	})
}

// sections returns the sections of the segment that has the records.
func sections(t testing.TB, records []keyword.Record) (out [][]byte) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "keyword")
	e := open(t, embedded.Config{Path: dir})
	if err := e.Apply(t.Context(), keyword.Batch{Records: records, Checkpoint: 1}); err != nil {
		t.Fatal(err)
	}
	if err := e.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	err := snapshot.Read(dir, embedded.Format, func(s *snapshot.Snapshot) error {
		return s.Read("segment-1", func(r *snapshot.Reader) error {
			for range embedded.Sections {
				out = append(out, snapshot.Next[byte](r))
			}
			return nil
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// stored writes a snapshot of one segment, of which one section is changed.
func stored(t testing.TB, dir string, sections [][]byte, changed int, content []byte) string {
	t.Helper()
	store, err := snapshot.NewStore(dir, embedded.Format)
	if err != nil {
		t.Fatal(err)
	}
	file, err := store.Create("segment", func(w *snapshot.Writer) {
		for i, section := range sections {
			if i == changed {
				section = content
			}
			snapshot.Write(w, section)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Commit([]snapshot.File{file}, embedded.ManifestOf(file)); err != nil {
		t.Fatal(err)
	}
	return dir
}
