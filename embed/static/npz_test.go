package static_test

import (
	"archive/zip"
	"bytes"
	"slices"
	"strings"
	"testing"

	"almanac/embed/static"
)

// archive packs one array file.
func archive(t testing.TB, name, content string) []byte {
	t.Helper()
	var buf bytes.Buffer
	w := zip.NewWriter(&buf)
	f, err := w.Create(name + ".npy")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write([]byte(content)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

const (
	header = "\x93NUMPY\x01\x00\x45\x00{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }           \n"
	floats = "\x00\x00\x80\x3f\x00\x00\x00\xc0" // 1, -2
)

func TestNPZ(t *testing.T) {
	whole := archive(t, "a", header+floats)
	if got, _, err := static.ReadNPZ(whole, "a", 2); err != nil || !slices.Equal(got, []float32{1, -2}) {
		t.Errorf("got %v, error %v", got, err)
	}
	damaged := bytes.Clone(whole)
	damaged[bytes.Index(damaged, []byte("a.npy"))+len("a.npy")+12] ^= 0x40
	for name, c := range map[string]struct {
		data  []byte
		array string
		shape []int
	}{
		"no archive is refused":        {[]byte("not a zip"), "a", []int{2}},
		"a cut archive is refused":     {whole[:len(whole)-10], "a", []int{2}},
		"a damaged archive is refused": {damaged, "a", []int{2}},
		"a missing array is refused":   {whole, "b", []int{2}},
		"another shape is refused":     {whole, "a", []int{3}},
		"another rank is refused":      {whole, "a", []int{2, 1}},
		"short data is refused":        {archive(t, "a", header+floats[:7]), "a", []int{2}},
		"long data is refused":         {archive(t, "a", header+floats+"x"), "a", []int{2}},
		"another type is refused": {archive(t, "a", strings.Replace(header, "<f4", ">f4", 1)+floats), "a",
			[]int{2}},
		"Fortran order is refused": {archive(t, "a", strings.Replace(header, "False", "True ", 1)+floats),
			"a", []int{2}},
		"an unknown version is refused": {archive(t, "a", strings.Replace(header, "\x01", "\x09", 1)+floats),
			"a", []int{2}},
		"another magic is refused": {archive(t, "a", strings.Replace(header, "NUMPY", "NIMPY", 1)+floats),
			"a", []int{2}},
		"a header longer than one is refused": {archive(t, "a", "\x93NUMPY\x01\x00\xff\xff"+floats), "a", []int{2}},
		"an empty file is refused":            {archive(t, "a", ""), "a", []int{2}},
	} {
		t.Run(name, func(t *testing.T) {
			if got, _, err := static.ReadNPZ(c.data, c.array, c.shape...); err == nil {
				t.Errorf("got %v, want an error", got)
			}
		})
	}
}

func FuzzNPZ(f *testing.F) {
	f.Add(archive(f, "a", header+floats))
	f.Add(archive(f, "a", "\x93NUMPY\x01\x00\xff\xff"))
	f.Add([]byte("PK\x05\x06"))
	f.Fuzz(func(t *testing.T, data []byte) {
		floats, ints, err := static.ReadNPZ(data, "a", 2)
		if err == nil && len(floats) != 2 && len(ints) != 2 {
			t.Errorf("accepted an array of %d and %d elements", len(floats), len(ints))
		}
	})
}
