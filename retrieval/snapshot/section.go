package snapshot

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"unsafe"
)

// A file is a sequence of sections: the length of the content in bytes as
// uint64, its CRC-32C, and the content. All numbers are little-endian.
const headSize = 8 + 4

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Number is what a section holds many of.
type Number interface {
	~uint8 | ~int8 | ~uint16 | ~int16 | ~uint32 | ~int32 | ~uint64 | ~int64 | ~float32 | ~float64
}

// Writer writes the sections of a file. The first error stays, and fails Create.
type Writer struct {
	out   *bufio.Writer
	size  int64
	heads uint32 // CRC-32C of the heads
	err   error
}

func newWriter(out io.Writer) *Writer { return &Writer{out: bufio.NewWriterSize(out, 1<<16)} }

func (w *Writer) flush() error {
	if w.err == nil {
		w.err = w.out.Flush()
	}
	return w.err
}

func (w *Writer) write(b []byte) {
	if w.err == nil {
		_, w.err = w.out.Write(b)
		w.size += int64(len(b))
	}
}

// Write writes the numbers as one section.
func Write[T Number](w *Writer, values []T) {
	content := bytesOf(values)
	if bigEndian {
		content = bytes.Clone(content)
		swap(content, int(unsafe.Sizeof(*new(T))))
	}
	head := binary.LittleEndian.AppendUint64(make([]byte, 0, headSize), uint64(len(content)))
	head = binary.LittleEndian.AppendUint32(head, crc32.Checksum(content, castagnoli))
	w.heads = crc32.Update(w.heads, castagnoli, head)
	w.write(head)
	w.write(content)
}

// Reader reads the sections of a file in order. The first error stays, and
// fails Read; after one, sections are empty.
type Reader struct {
	in    io.Reader
	left  int64 // bytes
	heads uint32
	err   error
}

// newReader returns a reader of size bytes.
func newReader(in io.Reader, size int64) *Reader { return &Reader{in: in, left: size} }

// Next returns the numbers of the next section. It allocates no more than the file is long.
func Next[T Number](r *Reader) []T {
	size := int64(unsafe.Sizeof(*new(T)))
	var head [headSize]byte
	if r.left < headSize {
		r.fail("it ends where a section should begin")
	}
	r.fill(head[:])
	length := binary.LittleEndian.Uint64(head[:])
	switch {
	case r.err != nil:
	case length > uint64(r.left):
		r.fail("a section of %d bytes, of which there are %d", length, r.left)
	case length%uint64(size) != 0:
		r.fail("a section of %d bytes for numbers of %d", length, size)
	}
	if r.err != nil {
		return nil
	}
	r.heads = crc32.Update(r.heads, castagnoli, head[:])
	values := make([]T, int64(length)/size)
	content := bytesOf(values)
	r.fill(content)
	if r.err == nil && crc32.Checksum(content, castagnoli) != binary.LittleEndian.Uint32(head[8:]) {
		r.fail("checksum of a section %d bytes before the end", r.left)
	}
	if r.err != nil {
		return nil
	}
	if bigEndian {
		swap(content, int(size))
	}
	return values
}

func (r *Reader) fill(b []byte) {
	if r.err != nil {
		return
	}
	n, err := io.ReadFull(r.in, b)
	r.left -= int64(n)
	switch {
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		r.fail("it is shorter than its size")
	case err != nil:
		r.err = err
	}
}

func (r *Reader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("%w: %s", ErrDamaged, fmt.Sprintf(format, args...))
	}
}

// end checks that all was read, and that it is the file with the sum.
func (r *Reader) end(sum uint32) {
	switch {
	case r.left > 0:
		r.fail("%d bytes after the last section", r.left)
	case r.heads != sum:
		r.fail("another file of that name")
	}
}
