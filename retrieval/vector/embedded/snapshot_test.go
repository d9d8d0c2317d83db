package embedded_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
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

	"almanac/retrieval/passage"
	"almanac/retrieval/vector"
	"almanac/retrieval/vector/embedded"
	"almanac/testing/soak"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if path := os.Getenv("ALMANAC_TEST_FLUSHER"); path != "" {
		flushUntilKilled(path)
	}
	if os.Getenv("ALMANAC_TEST_HITS") != "" {
		printHits()
		return
	}
	goleak.VerifyTestMain(m)
}

const snapshotDimensions = 16

func snapshotConfig(path string) embedded.Config {
	return embedded.Config{Path: path, Dimensions: snapshotDimensions, Model: "m"}
}

// written returns the path and files of a snapshot of 200 records.
func written(t testing.TB) (path string, files map[string][]byte) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "made", "vectors")
	x := open(t, snapshotConfig(path))
	fill(t, x, clustered(rand.New(rand.NewPCG(5, 5)), 1000, snapshotDimensions))
	flush(t, x)
	return path, filesOf(t, path)
}

// filesOf reads all files in a directory.
func filesOf(t testing.TB, dir string) map[string][]byte {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	files := make(map[string][]byte, len(entries))
	for _, e := range entries {
		if files[e.Name()], err = os.ReadFile(filepath.Join(dir, e.Name())); err != nil {
			t.Fatal(err)
		}
	}
	return files
}

// restored returns the path of a directory with such files.
func restored(t testing.TB, files map[string][]byte) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func flush(t testing.TB, x *embedded.Index) {
	t.Helper()
	if err := x.Flush(context.Background()); err != nil {
		t.Fatal(err)
	}
}

// isEmpty checks that an index has nothing and can be built.
func isEmpty(t *testing.T, x *embedded.Index, dimensions int) {
	t.Helper()
	if rows, _ := x.Rows(); rows != 0 || x.At() != 0 {
		t.Fatalf("%d rows, checkpoint %d, want an empty index", rows, x.At())
	}
	v := make([]float32, dimensions)
	v[0] = 1
	if err := x.Apply(t.Context(), vector.Batch{Records: []vector.Record{{ID: 1, Vectors: [][]float32{v}}},
		Checkpoint: 1}); err != nil {
		t.Fatal(err)
	}
	if hits, err := x.Search(t.Context(), v, passage.Filter{}, 1); err != nil || len(hits) != 1 {
		t.Fatalf("hits %v, error %v", hits, err)
	}
}

func TestSnapshotThatCannotBeUsedIsAnEmptyIndex(t *testing.T) {
	_, files := written(t)
	logged := func(t *testing.T, c embedded.Config, level string) {
		t.Helper()
		var log bytes.Buffer
		c.Log = slog.New(slog.NewTextHandler(&log, nil))
		for _, c.ReadOnly = range []bool{true, false} {
			log.Reset()
			isEmpty(t, open(t, c), c.Dimensions)
			if !strings.Contains(log.String(), level) {
				t.Errorf("the log is %q, want %s", &log, level)
			}
		}
	}
	t.Run("missing", func(t *testing.T) { logged(t, snapshotConfig(filepath.Join(t.TempDir(), "none")), "INFO") })
	t.Run("of another model", func(t *testing.T) {
		c := snapshotConfig(restored(t, files))
		c.Model = "n"
		logged(t, c, "WARN")
	})
	t.Run("of another dimension", func(t *testing.T) {
		c := snapshotConfig(restored(t, files))
		c.Dimensions++
		logged(t, c, "WARN")
	})
	spoiled := func(t *testing.T, name string, content []byte) {
		t.Helper()
		files := maps.Clone(files)
		level := "WARN"
		if files[name] = content; content == nil {
			delete(files, name)
			if name == "manifest" {
				level = "INFO"
			}
		}
		logged(t, snapshotConfig(restored(t, files)), level)
	}
	for name, whole := range files {
		t.Run("without "+name, func(t *testing.T) { spoiled(t, name, nil) })
		t.Run("torn in "+name, func(t *testing.T) { spoiled(t, name, whole[:len(whole)/2]) })
	}
}

func TestFlushWritesOnlyWhatHasChanged(t *testing.T) {
	const rows = embedded.BlockRows + 1000
	path := filepath.Join(t.TempDir(), "vectors")
	x := open(t, snapshotConfig(path))
	vs := clustered(rand.New(rand.NewPCG(5, 5)), rows, snapshotDimensions)
	fill(t, x, vs)
	flush(t, x)
	before := filesOf(t, path)
	// flushed returns the files that a flush wrote, by kind.
	flushed := func(x *embedded.Index) (kinds []string) {
		t.Helper()
		flush(t, x)
		after := filesOf(t, path)
		for name, content := range after {
			if !bytes.Equal(before[name], content) {
				kind, _, _ := strings.Cut(name, "-")
				kinds = append(kinds, kind)
			}
		}
		before = after
		slices.Sort(kinds)
		return kinds
	}
	one := vector.Record{ID: 1_000_000, Attributes: passage.Attributes{Kind: "doc"}, Vectors: vs[7:9]}
	for _, c := range []struct {
		name  string
		batch vector.Batch
		want  []string
	}{
		{"nothing", vector.Batch{Checkpoint: x.At()}, nil},
		{"the checkpoint", vector.Batch{Checkpoint: x.At() + 1}, []string{"manifest"}},
		{"a record", vector.Batch{Records: []vector.Record{one}, Checkpoint: x.At() + 2},
			[]string{"manifest", "records", "rows"}}, // of two blocks one
		{"a deletion", vector.Batch{Delete: []int64{1_000_001}, Checkpoint: x.At() + 3},
			[]string{"manifest", "records"}},
	} {
		for _, y := range []*embedded.Index{x, open(t, snapshotConfig(path))} {
			if y == x {
				if err := x.Apply(t.Context(), c.batch); err != nil {
					t.Fatal(err)
				}
			} else {
				c.want = nil // it has been read as it is
			}
			if got := flushed(y); !slices.Equal(got, c.want) {
				t.Errorf("%s changed: %v was written, want %v", c.name, got, c.want)
			}
			if x = y; y.At() != c.batch.Checkpoint && c.want != nil {
				t.Errorf("%s changed: checkpoint %d, want %d", c.name, y.At(), c.batch.Checkpoint)
			}
		}
	}
}

func TestReadersShareASnapshotAndNeverWrite(t *testing.T) {
	path, files := written(t)
	litter := filepath.Join(path, "rows-999")
	if err := os.WriteFile(litter, []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	files["rows-999"] = []byte("half")
	c := snapshotConfig(path)
	c.ReadOnly = true
	a, b := open(t, c), open(t, c)
	if err := a.Apply(t.Context(), vector.Batch{Delete: []int64{1_000_000}, Checkpoint: 5_000_000}); err != nil {
		t.Fatal(err)
	}
	flush(t, a)
	if a.At() == b.At() {
		t.Error("one reader's batch shows in the other")
	}
	if !maps.EqualFunc(filesOf(t, path), files, bytes.Equal) {
		t.Error("a reader changed the files")
	}
	open(t, snapshotConfig(path))
	if _, err := os.Stat(litter); err == nil {
		t.Error("the writer left an unfinished file")
	}
}

func TestFlushReportsAPathItCannotWrite(t *testing.T) {
	blocked := filepath.Join(t.TempDir(), "file")
	x := open(t, snapshotConfig(filepath.Join(blocked, "vectors")))
	if err := os.WriteFile(blocked, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	fill(t, x, clustered(rand.New(rand.NewPCG(5, 5)), 10, snapshotDimensions))
	if err := x.Flush(t.Context()); err == nil {
		t.Error("no error")
	}
}

// flushUntilKilled is the other process of the next test: it flushes states
// of 500 records that all have the batch's number as their kind.
func flushUntilKilled(path string) {
	x, err := embedded.Open(snapshotConfig(path))
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	random := rand.New(rand.NewPCG(6, 6))
	for n := x.At() + 1; ; n++ {
		b := vector.Batch{Checkpoint: n}
		for i, v := range clustered(random, 500, snapshotDimensions) {
			b.Records = append(b.Records, vector.Record{
				ID: int64(i + 1), Attributes: passage.Attributes{Kind: fmt.Sprint(n)}, Vectors: [][]float32{v}})
		}
		if x.Apply(context.Background(), b) != nil || x.Flush(context.Background()) != nil {
			os.Exit(1)
		}
		fmt.Println(n)
	}
}

func TestAKilledFlushLeavesAWholeSnapshot(t *testing.T) {
	path := filepath.Join(t.TempDir(), "vectors")
	last := int64(0)
	for i := range soak.Rounds(30) {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "ALMANAC_TEST_FLUSHER="+path)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		line := make([]byte, 16)
		if _, err := out.Read(line); err != nil { // at least one flush is done
			t.Error(err)
		}
		time.Sleep(time.Duration(i) * 3 * time.Millisecond) // to hit different moments
		if err := cmd.Process.Kill(); err != nil {
			t.Error(err)
		}
		_ = cmd.Wait() // killed
		c := snapshotConfig(path)
		c.ReadOnly = true
		x := open(t, c)
		if x.At() <= last {
			t.Fatalf("checkpoint %d after %d (the process said %s)", x.At(), last, strings.TrimSpace(string(line)))
		}
		last = x.At()
		q := make([]float32, snapshotDimensions)
		q[0] = 1
		hits, err := x.Search(t.Context(), q, passage.Filter{Kinds: []string{fmt.Sprint(last)}}, 1000)
		if err != nil || len(hits) != 500 {
			t.Fatalf("%d passages of batch %d, error %v, want 500", len(hits), last, err)
		}
	}
}

// FuzzSnapshot reads snapshots whose checksums are right and whose content is
// anything: whatever is accepted can be searched.
func FuzzSnapshot(f *testing.F) {
	state := `{"Checkpoint":3,"Attributes":[{"Kind":"doc"}],"Centre":[%s],"Rows":%d,"Records":"records-2",` +
		`"Blocks":["rows-1"]}`
	zeros := strings.Repeat("0,", snapshotDimensions-1) + "0"
	f.Add(fmt.Appendf(nil, state, zeros, 2), []byte{1, 0, 2, 0, 0}, uint8(2))
	f.Add(fmt.Appendf(nil, state, zeros, 4611686018427387904), []byte{1, 0, 2, 0, 0}, uint8(2))
	f.Add(fmt.Appendf(nil, state, zeros, -1), []byte{1, 0, 1, 0, 0, 2, 0, 255, 255, 0}, uint8(3))
	f.Add([]byte(`{"Checkpoint":3}`), []byte{}, uint8(0))
	f.Fuzz(func(t *testing.T, state, entries []byte, rows uint8) {
		c := snapshotConfig(t.TempDir())
		if !json.Valid(state) {
			return
		}
		embedded.WriteSnapshot(t, c, state, entries, int(rows))
		c.ReadOnly = true
		x, err := embedded.Open(c)
		if err != nil {
			t.Fatal(err)
		}
		q := make([]float32, snapshotDimensions)
		q[0] = 1
		hits, err := x.Search(t.Context(), q, passage.Filter{Kinds: []string{"doc"}}, 10)
		if err != nil || len(hits) > int(rows) {
			t.Errorf("%d hits in %d rows, error %v", len(hits), rows, err)
		}
	})
}
