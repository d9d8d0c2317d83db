package embedded_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"log/slog"
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
)

var everything = keyword.Query{Terms: []keyword.Term{{Text: "w", Weight: 1, Prefix: true}}}

func search(t testing.TB, e *embedded.Engine, q keyword.Query) []keyword.Hit {
	t.Helper()
	hits, err := e.Search(t.Context(), q, passage.Filter{}, 1000)
	if err != nil {
		t.Fatal(err)
	}
	return hits
}

// smallIndex has two segments, one with deletions.
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
	path := filepath.Join(t.TempDir(), "keyword.idx")
	want := search(t, smallIndex(t, path), everything)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	check := func(name string, data []byte) {
		t.Helper()
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		var log bytes.Buffer
		e := open(t, embedded.Config{Path: path, Log: slog.New(slog.NewTextHandler(&log, nil))})
		got := search(t, e, everything)
		switch {
		case e.At() == 0 && len(got) == 0:
			if !strings.Contains(log.String(), "snapshot not used") {
				t.Fatalf("%s: nothing in the log: %s", name, &log)
			}
		case e.At() != 3 || !slices.Equal(got, want):
			t.Fatalf("%s: checkpoint %d and %d hits, want 3 and %d", name, e.At(), len(got), len(want))
		case !bytes.Equal(data, whole):
			t.Fatalf("%s: damage was not noticed", name)
		}
	}
	check("intact", whole)
	for range 300 {
		data := bytes.Clone(whole)
		at := rng.IntN(len(data))
		data[at] ^= 1 << rng.IntN(8)
		check(fmt.Sprintf("bit flipped at %d", at), data)
		check(fmt.Sprintf("cut at %d", at), whole[:at])
		check(fmt.Sprintf("zeros from %d", at), append(bytes.Clone(whole[:at]), make([]byte, len(whole)-at)...))
	}
	check("longer", append(bytes.Clone(whole), 0))
	check("empty", nil)
	newer := bytes.Clone(whole)
	binary.LittleEndian.PutUint32(newer[8+12:], 99)
	check("another version", embedded.Reseal(newer))
}

func TestSnapshotRules(t *testing.T) {
	t.Run("no snapshot is an empty index", func(t *testing.T) {
		e := open(t, embedded.Config{Path: filepath.Join(t.TempDir(), "none", "keyword.idx")})
		if e.At() != 0 {
			t.Errorf("checkpoint %d", e.At())
		}
	})
	t.Run("a directory that is missing is made", func(t *testing.T) {
		smallIndex(t, filepath.Join(t.TempDir(), "new", "keyword.idx"))
	})
	t.Run("a path that cannot be written fails and stays applied", func(t *testing.T) {
		dir := t.TempDir()
		path := filepath.Join(dir, "keyword.idx")
		if err := os.Mkdir(path, 0o755); err != nil {
			t.Fatal(err)
		}
		e := open(t, embedded.Config{Path: path})
		if err := e.Apply(t.Context(), keyword.Batch{Checkpoint: 1}); err != nil {
			t.Fatal(err)
		}
		if err := e.Flush(t.Context()); err == nil {
			t.Error("flush over a directory succeeds")
		}
		if left, _ := filepath.Glob(filepath.Join(dir, "*.tmp")); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
	})
	t.Run("a reader follows in memory and writes nothing", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "keyword.idx")
		smallIndex(t, path)
		before, _ := os.ReadFile(path)
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
		if after, _ := os.ReadFile(path); !bytes.Equal(before, after) {
			t.Error("the file changed")
		}
	})
	t.Run("other scoring needs no other snapshot", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "keyword.idx")
		smallIndex(t, path)
		e := open(t, embedded.Config{Path: path, Scoring: testScoring})
		model := newReference(testScoring)
		records := zipfRecords(5, 30)
		model.apply(keyword.Batch{Records: records, Delete: []int64{3}})
		q := keyword.Query{Terms: []keyword.Term{{Text: "w0", Weight: 1}, {Text: "w5", Weight: 1}}}
		if err := checkHits(model.search(q, passage.Filter{}), search(t, e, q), 1000); err != nil {
			t.Error(err)
		}
	})
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
	path := filepath.Join(t.TempDir(), "keyword.idx")
	rng := rand.New(rand.NewPCG(3, 4))
	last := int64(0)
	for range 6 {
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

// FuzzSnapshot changes snapshots and corrects their checksums, so that what
// reads the sections is reached: nothing may panic, and what is read must be
// searchable.
func FuzzSnapshot(f *testing.F) {
	whole := smallIndex(f, filepath.Join(f.TempDir(), "keyword.idx")).Snapshot()
	f.Add(whole, 0, byte(0))
	tiny := open(f, embedded.Config{})
	if err := tiny.Apply(f.Context(), keyword.Batch{Records: []keyword.Record{{ID: 1, Title: text("a", "+ab"),
		Passages: []keyword.Passage{{ID: passage.NewID(1, 0), Body: text("b", "-", "c")}}}},
		Checkpoint: 1}); err != nil {
		f.Fatal(err)
	}
	small := tiny.Snapshot()
	for at := 20; at < len(small); at += 7 {
		f.Add(small, at, byte(0xff))
	}
	f.Add([]byte{}, 0, byte(0))
	f.Fuzz(func(t *testing.T, data []byte, at int, change byte) {
		if at > 0 && at < len(data) {
			data = bytes.Clone(data)
			data[at] ^= change
		}
		e, err := embedded.OpenBytes(embedded.Reseal(data))
		if err != nil {
			return
		}
		for unit := range keyword.Unit(2) {
			q := keyword.Query{Unit: unit, Terms: []keyword.Term{{Text: "w", Weight: 1, Prefix: true},
				{Text: "a", Weight: 1}},
				Exclude: []keyword.Term{{Text: "w9", Prefix: true}}}
			search(t, e, q)
			q.Phrases = [][]keyword.Term{{{Text: "w", Prefix: true}, {Text: "w", Prefix: true}}}
			search(t, e, q)
			if _, err := e.Facets(t.Context(), q, passage.Filter{Kinds: []string{"k1"}}, []string{"kind"}); err != nil {
				t.Fatal(err)
			}
		}
		if err := e.Compact(); err != nil {
			t.Fatal(err)
		}
	})
}
