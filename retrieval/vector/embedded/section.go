package embedded

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"

	"almanac/retrieval/passage"
)

// sectionWriter writes sections that end with their checksum. The first
// error stays.
type sectionWriter struct {
	w   io.Writer
	sum uint32
	buf [4096]byte
	err error
}

func (w *sectionWriter) bytes(raw []byte) {
	if w.err == nil {
		w.sum = crc32.Update(w.sum, castagnoli, raw)
		_, w.err = w.w.Write(raw)
	}
}

// end writes the checksum of what was written since the last one.
func (w *sectionWriter) end() {
	w.bytes(binary.LittleEndian.AppendUint32(nil, w.sum))
	w.sum = 0
}

func (w *sectionWriter) floats(values []float32) {
	for len(values) > 0 {
		n := min(len(values), len(w.buf)/4)
		for i, x := range values[:n] {
			binary.LittleEndian.PutUint32(w.buf[4*i:], math.Float32bits(x))
		}
		w.bytes(w.buf[:4*n])
		values = values[n:]
	}
}

func (w *sectionWriter) words(values []uint64) {
	for len(values) > 0 {
		n := min(len(values), len(w.buf)/8)
		for i, x := range values[:n] {
			binary.LittleEndian.PutUint64(w.buf[8*i:], x)
		}
		w.bytes(w.buf[:8*n])
		values = values[n:]
	}
}

func (w *sectionWriter) int8s(values []int8) {
	for len(values) > 0 {
		n := min(len(values), len(w.buf))
		for i, x := range values[:n] {
			w.buf[i] = byte(x)
		}
		w.bytes(w.buf[:n])
		values = values[n:]
	}
}

// sectionReader reads what sectionWriter wrote. The first error stays; after
// one, values are zero.
type sectionReader struct {
	r   io.Reader
	sum uint32
	n   int64 // bytes read
	buf [4096]byte
	err error
}

// bytes returns the next n ≤ 4096 bytes, valid until the next call.
func (r *sectionReader) bytes(n int) []byte {
	raw := r.buf[:n]
	if r.err == nil {
		r.read(raw)
	}
	if r.err != nil {
		clear(raw)
	}
	return raw
}

func (r *sectionReader) read(raw []byte) {
	n, err := io.ReadFull(r.r, raw)
	r.n += int64(n)
	switch {
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		r.err = fmt.Errorf("%w: it ends after %d bytes", errDamaged, r.n)
	case err != nil:
		r.err = err
	default:
		r.sum = crc32.Update(r.sum, castagnoli, raw)
	}
}

// end reads and compares the checksum of what was read since the last one.
func (r *sectionReader) end() {
	want := r.sum
	got := binary.LittleEndian.Uint32(r.bytes(4))
	if r.err == nil && got != want {
		r.err = fmt.Errorf("%w: checksum before byte %d", errDamaged, r.n)
	}
	r.sum = 0
}

// header reads magic and header of a file of the given size.
func (r *sectionReader) header(size int64) (h header, err error) {
	if magic := r.bytes(len(snapshotMagic)); r.err == nil && string(magic) != snapshotMagic {
		return h, fmt.Errorf("%w: no snapshot", errOther)
	}
	r.sum = 0
	length := int64(binary.LittleEndian.Uint32(r.bytes(4)))
	if r.err == nil && length > size-r.n {
		return h, fmt.Errorf("%w: header of %d bytes", errDamaged, length)
	}
	raw := make([]byte, length)
	if r.err == nil {
		r.read(raw)
	}
	r.end()
	if r.err != nil {
		return h, r.err
	}
	if err := json.Unmarshal(raw, &h); err != nil {
		return h, fmt.Errorf("%w: header: %w", errDamaged, err)
	}
	return h, nil
}

func (r *sectionReader) floats(values []float32) {
	for len(values) > 0 && r.err == nil {
		n := min(len(values), len(r.buf)/4)
		raw := r.bytes(4 * n)
		for i := range n {
			values[i] = math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:]))
		}
		values = values[n:]
	}
}

// block reads a block with the given number of rows; its ids are filled in later.
func (r *sectionReader) block(c *coder, rows int) block {
	b := block{
		ids:     make([]passage.ID, rows),
		vectors: make([]float32, rows*c.dimensions),
		quants:  make([]int8, rows*c.dimensions),
		scales:  make([]float32, rows),
		codes:   make([]uint64, rows*c.words()),
		tallies: make([]int32, rows),
	}
	r.floats(b.vectors)
	for left := b.quants; len(left) > 0 && r.err == nil; {
		raw := r.bytes(min(len(left), len(r.buf)))
		for i, x := range raw {
			left[i] = int8(x)
		}
		left = left[len(raw):]
	}
	for left := b.codes; len(left) > 0 && r.err == nil; {
		n := min(len(left), len(r.buf)/8)
		raw := r.bytes(8 * n)
		for i := range n {
			left[i] = binary.LittleEndian.Uint64(raw[8*i:])
		}
		left = left[n:]
	}
	r.end()
	for i := range rows {
		b.scales[i] = quantum(b.vectors[i*c.dimensions : (i+1)*c.dimensions])
		b.tallies[i] = tally(b.codes[i*c.words() : (i+1)*c.words()])
	}
	return b
}
