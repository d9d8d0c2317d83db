package embedded_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
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

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if path := os.Getenv("ALMANAC_TEST_FLUSHER"); path != "" {
		flushUntilKilled(path)
	}
	goleak.VerifyTestMain(m)
}

const snapshotDimensions = 16

func snapshotConfig(path string) embedded.Config {
	return embedded.Config{Path: path, Dimensions: snapshotDimensions, Model: "m"}
}

// written returns the path and bytes of a snapshot of 200 records.
func written(t testing.TB) (path string, raw []byte) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "made", "vectors")
	x := open(t, snapshotConfig(path))
	fill(t, x, clustered(rand.New(rand.NewPCG(5, 5)), 1000, snapshotDimensions))
	flush(t, x)
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return path, raw
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
	path, raw := written(t)
	logged := func(t *testing.T, c embedded.Config) {
		t.Helper()
		var log bytes.Buffer
		c.Log = slog.New(slog.NewTextHandler(&log, nil))
		c.ReadOnly = true
		isEmpty(t, open(t, c), c.Dimensions)
		if log.Len() == 0 {
			t.Error("nothing was logged")
		}
	}
	t.Run("missing", func(t *testing.T) { logged(t, snapshotConfig(filepath.Join(t.TempDir(), "none"))) })
	t.Run("of another model", func(t *testing.T) {
		c := snapshotConfig(path)
		c.Model = "n"
		logged(t, c)
	})
	t.Run("of another dimension", func(t *testing.T) {
		c := snapshotConfig(path)
		c.Dimensions++
		logged(t, c)
	})
	spoiled := func(raw []byte) embedded.Config {
		path := filepath.Join(t.TempDir(), "vectors")
		if err := os.WriteFile(path, raw, 0o600); err != nil {
			t.Fatal(err)
		}
		return snapshotConfig(path)
	}
	t.Run("of another version", func(t *testing.T) {
		other := embedded.Checksummed([]byte(`{"Version":2,"Model":"m","Dimensions":16}`))
		logged(t, spoiled(append(other, raw[len(raw)/2:]...)))
	})
	t.Run("torn at any place", func(t *testing.T) {
		for n := 0; n < len(raw); n += 1 + n/7 {
			logged(t, spoiled(raw[:n]))
		}
		logged(t, spoiled(raw[:len(raw)-1]))
	})
	t.Run("longer than it should be", func(t *testing.T) { logged(t, spoiled(append(slices.Clone(raw), 0))) })
	t.Run("with one wrong bit at any place", func(t *testing.T) {
		for n := 0; n < len(raw); n += 1 + n/20 {
			wrong := slices.Clone(raw)
			wrong[n] ^= 1 << (n % 8)
			logged(t, spoiled(wrong))
		}
	})
}

func TestFlushOfAnUnchangedIndexWritesNothing(t *testing.T) {
	path, raw := written(t)
	x := open(t, snapshotConfig(path))
	if err := os.Remove(path); err != nil { // so that any writing shows
		t.Fatal(err)
	}
	flush(t, x)
	if _, err := os.Stat(path); err == nil {
		t.Fatal("an unchanged index was written")
	}
	if err := x.Apply(t.Context(), vector.Batch{Checkpoint: x.At()}); err != nil {
		t.Fatal(err)
	}
	flush(t, x)
	if _, err := os.Stat(path); err == nil {
		t.Fatal("a batch that changed nothing was written")
	}
	if err := x.Apply(t.Context(), vector.Batch{Checkpoint: x.At() + 1}); err != nil {
		t.Fatal(err)
	}
	flush(t, x)
	if again, err := os.ReadFile(path); err != nil || len(again) < len(raw)-8 {
		t.Fatalf("a new checkpoint was not written: %d bytes, error %v", len(again), err)
	}
}

func TestReadersShareASnapshotAndNeverWrite(t *testing.T) {
	path, raw := written(t)
	litter := path + ".123.tmp"
	if err := os.WriteFile(litter, []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
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
	if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, raw) {
		t.Errorf("a reader changed the file (error %v)", err)
	}
	if _, err := os.Stat(litter); err != nil {
		t.Error("a reader removed a file")
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

func TestACancelledFlushLeavesTheOldSnapshot(t *testing.T) {
	path, raw := written(t)
	x := open(t, snapshotConfig(path))
	if err := x.Apply(t.Context(), vector.Batch{Checkpoint: 9_000_000}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := x.Flush(ctx); err == nil {
		t.Error("no error")
	}
	if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, raw) {
		t.Errorf("the file changed (error %v)", err)
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
	for i := range 6 {
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

func FuzzSnapshot(f *testing.F) {
	_, raw := written(f)
	f.Add(raw, false)
	f.Add(raw[:len(raw)/3], false)
	f.Add([]byte(`{"Version":1,"Model":"m","Dimensions":16,"Rows":4611686018427387904,"Entries":-1}`), true)
	f.Add([]byte(`{"Version":1,"Model":"m","Dimensions":16,"Checkpoint":3}`), true)
	f.Fuzz(func(t *testing.T, data []byte, head bool) {
		if head {
			empty := make([]byte, 4*snapshotDimensions+8) // centre and entries of nothing
			data = append(embedded.Checksummed(data[:min(len(data), 1<<16)]), empty...)
		}
		if rows, err := embedded.DecodeSnapshot(data, snapshotConfig("")); err == nil &&
			rows*snapshotDimensions > len(data) {
			t.Errorf("%d rows from %d bytes", rows, len(data))
		}
	})
}
