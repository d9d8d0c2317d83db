package static

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"strings"
)

// npz is an open archive of NumPy arrays (numpy.lib.format, version 1). The
// reader is strict: an array is what the caller expects in type and shape, to the
// byte, or an error, so a hostile archive cannot make it allocate memory.
type npz struct {
	archive *zip.Reader
}

func openNPZ(data []byte) (npz, error) {
	r, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return npz{}, fmt.Errorf("npz: %w", err)
	}
	return npz{r}, nil
}

// int8s returns an int8 array of the shape, in row order.
func (z npz) int8s(name string, shape ...int) ([]int8, error) {
	raw, err := z.read(name, "|i1", 1, shape)
	if err != nil {
		return nil, err
	}
	values := make([]int8, len(raw))
	for i, b := range raw {
		values[i] = int8(b)
	}
	return values, nil
}

// float32s returns a little-endian float32 array of the shape, in row order.
func (z npz) float32s(name string, shape ...int) ([]float32, error) {
	raw, err := z.read(name, "<f4", 4, shape)
	if err != nil {
		return nil, err
	}
	values := make([]float32, len(raw)/4)
	for i := range values {
		values[i] = math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:]))
	}
	return values, nil
}

// read returns the raw elements of an array.
func (z npz) read(name, descr string, size int, shape []int) ([]byte, error) {
	f, err := z.archive.Open(name + ".npy")
	if err != nil {
		return nil, fmt.Errorf("npz: array %q: %w", name, err)
	}
	defer f.Close()
	if err := checkHeader(f, descr, shape); err != nil {
		return nil, fmt.Errorf("npz: array %q: %w", name, err)
	}
	for _, n := range shape {
		size *= n
	}
	raw := make([]byte, size)
	if _, err := io.ReadFull(f, raw); err != nil {
		return nil, fmt.Errorf("npz: array %q: %w", name, err)
	}
	// Reading to the end also makes zip compare the checksum.
	if n, err := f.Read(make([]byte, 1)); n != 0 || err != io.EOF {
		return nil, fmt.Errorf("npz: array %q: longer than its shape or damaged (%v)", name, err)
	}
	return raw, nil
}

// magic begins every array.
const magic = "\x93NUMPY"

// maxHeader bounds the textual header, which for plain arrays is some 120 bytes.
const maxHeader = 4096

// checkHeader reads an array's header up to its data and compares it.
func checkHeader(r io.Reader, descr string, shape []int) error {
	prefix := make([]byte, 10)
	if _, err := io.ReadFull(r, prefix); err != nil {
		return fmt.Errorf("header: %w", err)
	}
	if string(prefix[:6]) != magic {
		return fmt.Errorf("not a NumPy array")
	}
	if prefix[6] != 1 {
		return fmt.Errorf("format version %d", prefix[6])
	}
	n := int(binary.LittleEndian.Uint16(prefix[8:]))
	if n > maxHeader {
		return fmt.Errorf("header of %d bytes", n)
	}
	header := make([]byte, n)
	if _, err := io.ReadFull(r, header); err != nil {
		return fmt.Errorf("header: %w", err)
	}
	if got, want := strings.TrimSpace(string(header)), headerOf(descr, shape); got != want {
		return fmt.Errorf("header %q, want %q", got, want)
	}
	return nil
}

// headerOf returns the header that NumPy writes, always with this spelling of the dictionary.
func headerOf(descr string, shape []int) string {
	dims := make([]string, len(shape))
	for i, n := range shape {
		dims[i] = fmt.Sprint(n)
	}
	tuple := strings.Join(dims, ", ")
	if len(dims) == 1 {
		tuple += ","
	}
	return fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", descr, tuple)
}
