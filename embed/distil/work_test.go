package distil_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"almanac/embed/distil"
)

func TestWorkFileKeepsVectors(t *testing.T) {
	path := filepath.Join(t.TempDir(), "deep", "work")
	w := must[distil.WorkFile](t)(distil.OpenWork(path, "m", 3))
	if err := w.Put([]string{"a", "b"}, [][]float32{{1, 2, 3}, {-0.5, 0, 1e-30}}); err != nil {
		t.Fatal(err)
	}
	if _, err := distil.OpenWork(path, "m", 3); err == nil || !strings.Contains(err.Error(), "in use") {
		t.Errorf("opened a second time: error %v", err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	w = must[distil.WorkFile](t)(distil.OpenWork(path, "m", 3))
	if err := w.Put([]string{"c", "a"}, [][]float32{{7, 8, 9}, {4, 4, 4}}); err != nil { // the later answer counts
		t.Fatal(err)
	}
	for range 2 {
		for text, want := range map[string][]float32{"a": {4, 4, 4}, "b": {-0.5, 0, 1e-30}, "c": {7, 8, 9}, "d": nil} {
			if got, err := w.Get(text); err != nil || !slices.Equal(got, want) {
				t.Errorf("%s: %v, error %v, want %v", text, got, err, want)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		w = must[distil.WorkFile](t)(distil.OpenWork(path, "m", 3))
	}
	// Damage under an open file is an error, not a vector.
	data := must[[]byte](t)(os.ReadFile(path))
	for i := len(distil.WorkHeader("m", 3)); i < len(data); i++ {
		data[i] = ^data[i]
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	if got, err := w.Get("a"); err == nil {
		t.Errorf("read %v from a damaged record", got)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

func FuzzWorkFile(f *testing.F) {
	header := distil.WorkHeader("m", 3)
	path := filepath.Join(f.TempDir(), "work")
	w := must[distil.WorkFile](f)(distil.OpenWork(path, "m", 3))
	if err := w.Put([]string{"a", "b"}, [][]float32{{1, 2, 3}, {4, 5, 6}}); err != nil {
		f.Fatal(err)
	}
	if err := w.Close(); err != nil {
		f.Fatal(err)
	}
	whole := must[[]byte](f)(os.ReadFile(path))
	for _, seed := range [][]byte{nil, header, header[:5], whole, whole[:len(whole)-1], flip(whole, len(header)+3),
		bytes.Repeat([]byte{0}, 200),
		append(slices.Clone(header), make([]byte, 4*distil.RecordSize(3))...), distil.WorkHeader("m", 1<<30),
		[]byte("notes")} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		texts, records, err := distil.ReadWork(data, "m", 3)
		if err != nil {
			if bytes.HasPrefix(data, header) || bytes.HasPrefix(header, data) {
				t.Errorf("refused a file of this teacher: %v", err)
			}
			return
		}
		if int64(texts) > records || records > int64(max(0, len(data)-len(header))/distil.RecordSize(3)) {
			t.Errorf("%d texts in %d records of %d bytes", texts, records, len(data))
		}
		// What is read can be gone on with.
		path := filepath.Join(t.TempDir(), "work")
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
		w, err := distil.OpenWork(path, "m", 3)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Put([]string{"new"}, [][]float32{{1, 2, 3}}); err != nil {
			t.Fatal(err)
		}
		if got, err := w.Get("new"); err != nil || !slices.Equal(got, []float32{1, 2, 3}) {
			t.Errorf("%v, error %v", got, err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		again := must[[]byte](t)(os.ReadFile(path))
		if _, n, err := distil.ReadWork(again, "m", 3); err != nil || n != records+1 {
			t.Errorf("%d records, error %v, want %d", n, err, records+1)
		}
	})
}
