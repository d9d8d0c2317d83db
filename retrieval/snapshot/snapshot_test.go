package snapshot_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"almanac/retrieval/snapshot"
	"almanac/testing/soak"
)

const format = "numbers 1"

func TestMain(m *testing.M) {
	if dir := os.Getenv(flushDir); dir != "" {
		flushUntilKilled(dir)
	}
	os.Exit(m.Run())
}

// state is what the tests store: the same number in each file.
type state struct {
	Number int
	Files  []string
}

func newStore(t testing.TB, dir string) *snapshot.Store {
	t.Helper()
	s, err := snapshot.NewStore(dir, format)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// flush makes a snapshot of n files that hold the number, keeping the files given.
func flush(s *snapshot.Store, number, n int, keep ...snapshot.File) ([]snapshot.File, error) {
	st := state{Number: number}
	files := slices.Clone(keep)
	for range n {
		f, err := s.Create("numbers", func(w *snapshot.Writer) {
			snapshot.Write(w, []int64{int64(number), math.MinInt64})
			snapshot.Write(w, bytes.Repeat([]byte{byte(number)}, 1000))
		})
		if err != nil {
			return nil, err
		}
		st.Files = append(st.Files, f.Name)
		files = append(files, f)
	}
	return files, s.Commit(files, st)
}

func mustFlush(t testing.TB, s *snapshot.Store, number, n int, keep ...snapshot.File) []snapshot.File {
	t.Helper()
	files, err := flush(s, number, n, keep...)
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// load reads what flush has written.
func load(s *snapshot.Snapshot) (number int, err error) {
	var st state
	if err := s.State(&st); err != nil {
		return 0, err
	}
	for _, name := range st.Files {
		err := s.Read(name, func(r *snapshot.Reader) error {
			numbers, tail := snapshot.Next[int64](r), snapshot.Next[byte](r)
			if !slices.Equal(numbers, []int64{int64(st.Number), math.MinInt64}) || len(tail) != 1000 {
				return fmt.Errorf("%w: %v and %d bytes in the snapshot of %d", snapshot.ErrDamaged, numbers, len(tail),
					st.Number)
			}
			return nil
		})
		if err != nil {
			return 0, err
		}
	}
	return st.Number, nil
}

func read(dir string) (number int, err error) {
	err = snapshot.Read(dir, format, func(s *snapshot.Snapshot) (err error) {
		number, err = load(s)
		return err
	})
	return number, err
}

func wantNumber(t testing.TB, dir string, want int) {
	t.Helper()
	if got, err := read(dir); err != nil || got != want {
		t.Fatalf("the snapshot is that of %d, want %d, error %v", got, want, err)
	}
}

func entries(t testing.TB, dir string) (names []string) {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		names = append(names, e.Name())
	}
	return names
}

func TestEveryKindOfNumberComesBack(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "made", "deeper")
	s := newStore(t, dir)
	f, err := s.Create("all", func(w *snapshot.Writer) {
		snapshot.Write(w, []uint8("text"))
		snapshot.Write(w, []int8{-128, 127})
		snapshot.Write(w, []uint16{1, math.MaxUint16})
		snapshot.Write(w, []uint32{})
		snapshot.Write(w, []uint64{math.MaxUint64})
		snapshot.Write(w, []int64{math.MinInt64})
		snapshot.Write(w, []float32{float32(math.Inf(-1)), 0.1})
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Commit([]snapshot.File{f}, "state"); err != nil {
		t.Fatal(err)
	}
	err = snapshot.Read(dir, format, func(s *snapshot.Snapshot) error {
		var st string
		if err := s.State(&st); err != nil || st != "state" {
			t.Errorf("state %q, error %v", st, err)
		}
		return s.Read(f.Name, func(r *snapshot.Reader) error {
			if string(snapshot.Next[uint8](r)) != "text" || !slices.Equal(snapshot.Next[int8](r), []int8{-128, 127}) ||
				!slices.Equal(snapshot.Next[uint16](r), []uint16{1, math.MaxUint16}) ||
				len(snapshot.Next[uint32](r)) != 0 ||
				!slices.Equal(snapshot.Next[uint64](r), []uint64{math.MaxUint64}) ||
				!slices.Equal(snapshot.Next[int64](r), []int64{math.MinInt64}) ||
				!slices.Equal(snapshot.Next[float32](r), []float32{float32(math.Inf(-1)), 0.1}) {
				t.Error("numbers differ")
			}
			return nil
		})
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestWhatCannotBeUsedIsAnError(t *testing.T) {
	t.Run("none", func(t *testing.T) {
		if _, err := read(filepath.Join(t.TempDir(), "none")); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("error %v", err)
		}
	})
	t.Run("of another format", func(t *testing.T) {
		dir := t.TempDir()
		mustFlush(t, newStore(t, dir), 1, 2)
		err := snapshot.Read(dir, "numbers 2", func(*snapshot.Snapshot) error { t.Error("it is read"); return nil })
		if !errors.Is(err, snapshot.ErrFormat) {
			t.Errorf("error %v", err)
		}
		if _, err := snapshot.NewStore(dir, "numbers 2"); err != nil || len(entries(t, dir)) > 0 {
			t.Errorf("the writer keeps %v, error %v", entries(t, dir), err)
		}
	})
	t.Run("a file in the place of the directory", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(path, []byte("of something else"), 0o600); err != nil {
			t.Fatal(err)
		}
		mustFlush(t, newStore(t, path), 4, 1)
		wantNumber(t, path, 4)
	})
	t.Run("a file is missing", func(t *testing.T) {
		dir := t.TempDir()
		files := mustFlush(t, newStore(t, dir), 1, 2)
		if err := os.Remove(filepath.Join(dir, files[1].Name)); err != nil {
			t.Fatal(err)
		}
		if _, err := read(dir); !errors.Is(err, snapshot.ErrDamaged) {
			t.Errorf("error %v", err)
		}
		mustFlush(t, newStore(t, dir), 2, 1)
		wantNumber(t, dir, 2)
	})
	t.Run("a file of another snapshot", func(t *testing.T) {
		dir, other := t.TempDir(), t.TempDir()
		files := mustFlush(t, newStore(t, dir), 1, 1)
		mustFlush(t, newStore(t, other), 2, 1)
		if err := os.Rename(filepath.Join(other, files[0].Name), filepath.Join(dir, files[0].Name)); err != nil {
			t.Fatal(err)
		}
		if _, err := read(dir); !errors.Is(err, snapshot.ErrDamaged) {
			t.Errorf("error %v", err)
		}
	})
	t.Run("sections that are not read", func(t *testing.T) {
		dir := t.TempDir()
		files := mustFlush(t, newStore(t, dir), 1, 1)
		err := snapshot.Read(dir, format, func(s *snapshot.Snapshot) error {
			return s.Read(files[0].Name, func(r *snapshot.Reader) error { snapshot.Next[int64](r); return nil })
		})
		if !errors.Is(err, snapshot.ErrDamaged) {
			t.Errorf("error %v", err)
		}
	})
}

func TestDamageAnywhereIsNoticed(t *testing.T) {
	dir := t.TempDir()
	files := mustFlush(t, newStore(t, dir), 3, 1)
	for _, name := range []string{"manifest", files[0].Name} {
		path := filepath.Join(dir, name)
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		check := func(what string, data []byte) {
			t.Helper()
			if err := os.WriteFile(path, data, 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := read(dir); !errors.Is(err, snapshot.ErrDamaged) {
				t.Errorf("%s %s: error %v", name, what, err)
			}
		}
		for at := range whole {
			if at > 60 && at%29 > 0 {
				continue
			}
			data := bytes.Clone(whole)
			data[at] ^= 1 << (at % 8)
			check(fmt.Sprintf("bit flipped at %d", at), data)
			check(fmt.Sprintf("cut at %d", at), whole[:at])
			check(fmt.Sprintf("zeros from %d", at), append(bytes.Clone(whole[:at]), make([]byte, len(whole)-at)...))
		}
		check("longer", append(bytes.Clone(whole), 0))
		if err := os.WriteFile(path, whole, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	wantNumber(t, dir, 3)
}

func TestFilesGoAFlushAfterTheyAreNamedLast(t *testing.T) {
	dir := t.TempDir()
	s := newStore(t, dir)
	want := func(names ...string) {
		t.Helper()
		if got := entries(t, dir); !slices.Equal(got, append([]string{"manifest"}, names...)) {
			t.Errorf("files %v, want %v", got, names)
		}
	}
	first := mustFlush(t, s, 1, 2)
	want("numbers-1", "numbers-2")
	mustFlush(t, s, 2, 1, first[0])
	want("numbers-1", "numbers-2", "numbers-3")
	mustFlush(t, s, 3, 1, first[0])
	want("numbers-1", "numbers-3", "numbers-4")
	if _, err := s.Create("numbers", func(*snapshot.Writer) {}); err != nil { // no manifest will name it
		t.Fatal(err)
	}
	for _, name := range []string{"manifest.tmp", "numbers-17"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("half"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	wantNumber(t, dir, 3)
	s = newStore(t, dir)
	want("numbers-1", "numbers-4")
	mustFlush(t, s, 4, 1)
	want("numbers-1", "numbers-18", "numbers-4") // no name is used twice
}

func TestAFailedFlushLeavesTheOldSnapshot(t *testing.T) {
	dir := t.TempDir()
	s := newStore(t, dir)
	mustFlush(t, s, 1, 1)
	blocked := filepath.Join(dir, "manifest.tmp")
	if err := os.MkdirAll(filepath.Join(blocked, "x"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := flush(s, 2, 1); err == nil {
		t.Fatal("no error")
	}
	wantNumber(t, dir, 1)
	if err := os.RemoveAll(blocked); err != nil {
		t.Fatal(err)
	}
	mustFlush(t, s, 3, 1)
	wantNumber(t, dir, 3)
	if err := s.Commit(nil, func() {}); err == nil {
		t.Error("a state that is no JSON is accepted")
	}
	wantNumber(t, dir, 3)
}

func TestOthersCanReadTheFiles(t *testing.T) {
	old := syscall.Umask(0o022)
	defer syscall.Umask(old)
	dir := filepath.Join(t.TempDir(), "made")
	mustFlush(t, newStore(t, dir), 1, 1)
	for _, name := range append(entries(t, dir), "") {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if want := map[bool]os.FileMode{false: 0o644, true: 0o755}[info.IsDir()]; info.Mode().Perm() != want {
			t.Errorf("%q has mode %o, want %o", name, info.Mode().Perm(), want)
		}
	}
}

func TestAReaderBeginsAgainWithTheNewestManifest(t *testing.T) {
	dir := t.TempDir()
	s := newStore(t, dir)
	mustFlush(t, s, 1, 1)
	var seen []int
	errLost := errors.New("lost")
	err := snapshot.Read(dir, format, func(opened *snapshot.Snapshot) error {
		number, err := load(opened)
		if err != nil {
			t.Error(err)
		}
		if seen = append(seen, number); number < 3 {
			mustFlush(t, s, number+1, 1)
			return errLost
		}
		return nil
	})
	if err != nil || !slices.Equal(seen, []int{1, 2, 3}) {
		t.Errorf("it saw %v, error %v", seen, err)
	}
	calls := 0
	err = snapshot.Read(dir, format, func(*snapshot.Snapshot) error { calls++; return errLost })
	if !errors.Is(err, errLost) || calls != 1 {
		t.Errorf("a manifest that stays is tried %d times, error %v", calls, err)
	}
}

func TestReadersWhileTheWriterReplaces(t *testing.T) {
	dir := t.TempDir()
	s := newStore(t, dir)
	files := mustFlush(t, s, 0, 2)
	done := make(chan struct{})
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			for last := 0; ; {
				n, err := read(dir)
				if err != nil || n < last {
					t.Errorf("snapshot of %d after %d, error %v", n, last, err)
					return
				}
				last = n
				select {
				case <-done:
					return
				default:
				}
			}
		})
	}
	for n := 1; n < 25; n++ {
		files = mustFlush(t, s, n, 2)
	}
	close(done)
	wg.Wait()
	if got := len(entries(t, dir)); got != 1+2*len(files) {
		t.Errorf("%d files, want %d", got, 1+2*len(files))
	}
}

const flushDir = "ALMANAC_TEST_FLUSHER"

func flushUntilKilled(dir string) {
	s, err := snapshot.NewStore(dir, format)
	for n := 1; err == nil; n++ {
		_, err = flush(s, n, 4)
		fmt.Println(n)
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

func TestAKilledWriterLeavesAWholeSnapshot(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "numbers")
	rng := rand.New(rand.NewPCG(1, 2))
	for range soak.Rounds(50) {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), flushDir+"="+dir)
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
		time.Sleep(time.Duration(rng.IntN(20_000)) * time.Microsecond)
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		said, _ := io.ReadAll(out)
		_ = cmd.Wait() // killed
		told := strings.Count(string(said), "\n")
		if n, err := read(dir); err != nil || n < told {
			t.Fatalf("the snapshot of %d after that of %d was flushed, error %v", n, told, err)
		}
		newStore(t, dir)
		if got := len(entries(t, dir)); got != 1+4 {
			t.Fatalf("%d files are left, want a manifest and 4", got)
		}
	}
}
