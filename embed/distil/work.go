package distil

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"os"
	"path/filepath"
	"syscall"
)

// workFile keeps the teacher's vectors as they arrive, so that a killed run
// continues where it stopped. It is a header that names the teacher, then
// records of one size: the key of a text, its vector as little-endian float32,
// and a CRC-32C over both. A damaged record is skipped, a partial one at the
// end is cut off; both texts are embedded again. Writes do not wait for the
// disk: a power cut loses the last vectors, not the file.
type workFile struct {
	file    *os.File
	dims    int
	start   int64             // of the first record
	records int64             // complete ones
	at      map[textKey]int64 // number of a text's record
	raw     []byte            // scratch: one record
}

// textKey identifies a text.
type textKey [16]byte

func keyOf(text string) textKey {
	sum := sha256.Sum256([]byte(text))
	return textKey(sum[:])
}

const workMagic = "almanac distil 1\n"

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// recordSize returns the size of a record in bytes.
func recordSize(dims int) int { return len(textKey{}) + 4*dims + crc32.Size }

// workHeader returns the header of a teacher's file.
func workHeader(model string, dims int) []byte {
	h := []byte(workMagic)
	h = binary.LittleEndian.AppendUint32(h, uint32(dims))
	h = binary.LittleEndian.AppendUint32(h, uint32(len(model)))
	h = append(h, model...)
	return binary.LittleEndian.AppendUint32(h, crc32.Checksum(h, castagnoli))
}

var errOtherTeacher = errors.New("holds vectors of another teacher, or is not a work file: name another one, " +
	"or remove it")

// openWork opens or creates the file of a teacher. One run at a time holds it.
func openWork(path, model string, dims int) (_ *workFile, err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			f.Close()
		}
	}()
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, fmt.Errorf("work file %s is in use by another run (%w)", path, err)
	}
	header := workHeader(model, dims)
	w := &workFile{file: f, dims: dims, start: int64(len(header)), raw: make([]byte, recordSize(dims))}
	w.at, w.records, err = readWork(bufio.NewReaderSize(f, 1<<20), header, dims)
	if err != nil {
		return nil, fmt.Errorf("work file %s: %w", path, err)
	}
	if w.records == 0 { // new, or truncated inside its header
		if _, err := f.WriteAt(header, 0); err != nil {
			return nil, err
		}
	}
	if err := f.Truncate(w.offset(w.records)); err != nil {
		return nil, err
	}
	return w, nil
}

func (w *workFile) offset(record int64) int64 { return w.start + record*int64(len(w.raw)) }

// readWork reads a file that must have the header: it returns the numbers of
// the intact records by their texts, and how many records there are including
// damaged ones. A file that ends inside the header counts as empty.
func readWork(r io.Reader, header []byte, dims int) (at map[textKey]int64, records int64, err error) {
	at = map[textKey]int64{}
	got := make([]byte, len(header))
	n, err := io.ReadFull(r, got)
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		if !bytes.HasPrefix(header, got[:n]) {
			return nil, 0, errOtherTeacher
		}
		return at, 0, nil
	case err != nil:
		return nil, 0, err
	case !bytes.Equal(got, header):
		return nil, 0, errOtherTeacher
	}
	raw := make([]byte, recordSize(dims))
	for ; ; records++ {
		_, err := io.ReadFull(r, raw)
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return at, records, nil
		}
		if err != nil {
			return nil, 0, err
		}
		if isWhole(raw) {
			at[textKey(raw)] = records
		}
	}
}

func isWhole(raw []byte) bool {
	body, sum := raw[:len(raw)-crc32.Size], raw[len(raw)-crc32.Size:]
	return crc32.Checksum(body, castagnoli) == binary.LittleEndian.Uint32(sum)
}

// has reports whether the file holds the vector of a text.
func (w *workFile) has(k textKey) bool {
	_, ok := w.at[k]
	return ok
}

// read reads a vector that the file holds into v, of dims.
func (w *workFile) read(k textKey, v []float32) error {
	if _, err := w.file.ReadAt(w.raw, w.offset(w.at[k])); err != nil {
		return fmt.Errorf("work file: %w", err)
	}
	if !isWhole(w.raw) || textKey(w.raw) != k {
		return fmt.Errorf("work file: record %d was damaged while in use", w.at[k])
	}
	for i := range v {
		v[i] = math.Float32frombits(binary.LittleEndian.Uint32(w.raw[len(k)+4*i:]))
	}
	return nil
}

// append stores vectors in one write.
func (w *workFile) append(keys []textKey, vectors [][]float32) error {
	raw := make([]byte, 0, len(keys)*len(w.raw))
	for i, k := range keys {
		from := len(raw)
		raw = append(raw, k[:]...)
		for _, x := range vectors[i] {
			raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(x))
		}
		raw = binary.LittleEndian.AppendUint32(raw, crc32.Checksum(raw[from:], castagnoli))
	}
	if _, err := w.file.WriteAt(raw, w.offset(w.records)); err != nil {
		return fmt.Errorf("work file: %w", err)
	}
	for _, k := range keys {
		w.at[k] = w.records
		w.records++
	}
	return nil
}

func (w *workFile) close() error { return errors.Join(w.file.Sync(), w.file.Close()) }
