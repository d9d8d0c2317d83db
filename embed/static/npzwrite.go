package static

import (
	"archive/zip"
	"encoding/binary"
	"io"
	"strings"
)

// npzWriter writes an archive of arrays that NumPy and openNPZ read. The same
// arrays give the same bytes: no time is written.
type npzWriter struct{ archive *zip.Writer }

func newNPZ(w io.Writer) npzWriter { return npzWriter{zip.NewWriter(w)} }

// headerUnit is the alignment of an array's header, so that its data can be mapped into memory.
const headerUnit = 64

// array writes one array: its type, its shape and its values, which must have a fixed size.
func (z npzWriter) array(name, descr string, values any, shape ...int) error {
	w, err := z.archive.CreateHeader(&zip.FileHeader{Name: name + ".npy", Method: zip.Deflate})
	if err != nil {
		return err
	}
	header := headerOf(descr, shape)
	size := len(magic) + 4 + len(header) + 1 // with version, length and end of line
	header += strings.Repeat(" ", (headerUnit-size%headerUnit)%headerUnit) + "\n"
	prefix := binary.LittleEndian.AppendUint16([]byte(magic+"\x01\x00"), uint16(len(header)))
	if _, err := w.Write(append(prefix, header...)); err != nil {
		return err
	}
	return binary.Write(w, binary.LittleEndian, values)
}

func (z npzWriter) close() error { return z.archive.Close() }
