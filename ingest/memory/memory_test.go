package memory_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"almanac/ingest/memory"
)

type seen struct{ Items map[string]int }

// many is a state that needs a file.
func many(n int) seen {
	s := seen{map[string]int{"a": n}}
	for i := range 1000 {
		s.Items[strconv.Itoa(i)] = i
	}
	return s
}

func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, e := range entries {
		all = append(all, e.Name())
	}
	slices.Sort(all)
	return all
}

func TestARunRecallsTheOneBefore(t *testing.T) {
	f := memory.Files{Dir: t.TempDir(), Prefix: "seen-"}
	if err := os.WriteFile(filepath.Join(f.Dir, "other"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var cursors []string
	before := ""
	for i := range 3 {
		cursor, err := f.Put(many(i), before)
		if err != nil {
			t.Fatal(err)
		}
		var got seen
		if !f.Get(cursor, &got) || got.Items["a"] != i {
			t.Errorf("run %d recalls %v", i, got)
		}
		cursors, before = append(cursors, cursor), cursor
	}
	want := []string{"other", "seen-" + cursors[1], "seen-" + cursors[2]}
	slices.Sort(want)
	if got := names(t, f.Dir); !slices.Equal(got, want) {
		t.Errorf("files %v, want that of the last run, that of the run before and what is not ours: %v", got, want)
	}
	again, err := f.Put(many(2), before)
	if err != nil || again != before {
		t.Errorf("the same is remembered as %s, %v; want %s", again, err, before)
	}
}

func TestWhatCannotBeRecalled(t *testing.T) {
	f := memory.Files{Dir: t.TempDir(), Prefix: "seen-"}
	cursor, err := f.Put(many(1), "")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(f.Dir, "seen-"+cursor)
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string][]byte{"cut": whole[:len(whole)-1], "empty": {},
		"another": []byte(`{"Items":{"a":2}}`)} {
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
		if f.Get(cursor, &seen{}) {
			t.Errorf("%s: a damaged file is recalled", name)
		}
		if again, err := f.Put(many(1), cursor); err != nil || again != cursor || !f.Get(cursor, &seen{}) {
			t.Errorf("%s: a damaged file is not mended: %v", name, err)
		}
	}
	for _, name := range []string{"", "0123456789abcdef0123456789abcdef", "../seen-" + cursor, "a/b", `a\b`,
		"2026-11-22T00:00:00Z"} {
		if f.Get(name, &seen{}) {
			t.Errorf("%q is read", name)
		}
	}
}

func TestWhatCannotBeWrittenLeavesNothing(t *testing.T) {
	f := memory.Files{Dir: t.TempDir(), Prefix: "seen-"}
	place, err := memory.Files{Dir: t.TempDir()}.Put(many(1), "")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(f.Dir, "seen-"+place), 0o700); err != nil { // no file can have the name
		t.Fatal(err)
	}
	if _, err := f.Put(many(1), ""); err == nil {
		t.Error("no error")
	}
	if got := names(t, f.Dir); !slices.Equal(got, []string{"seen-" + place}) {
		t.Errorf("files %v", got)
	}
	gone := memory.Files{Dir: filepath.Join(f.Dir, "gone"), Prefix: "seen-"}
	if _, err := gone.Put(many(1), ""); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no directory: %v", err)
	}
}

func TestSettings(t *testing.T) {
	a, b := memory.Settings("1", map[string]int{"x": 1, "y": 2}), memory.Settings("1", map[string]int{"y": 2, "x": 1})
	if a != b || len(a) != 16 || a == memory.Settings("2", map[string]int{"x": 1, "y": 2}) {
		t.Errorf("%s and %s", a, b)
	}
}
