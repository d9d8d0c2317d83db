package embedded

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"almanac/retrieval/keyword"
)

// A snapshot is a magic number and the sections, nothing else; numbers are
// little-endian. A section is its length, its CRC-32C and its bytes. The first
// holds the header; then come the sections of each segment in the order of
// segmentSections.
const (
	snapshotMagic   = "almkeyw\n"
	snapshotVersion = 1
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

type snapshotHeader struct {
	Version    uint32
	Segments   uint32
	Checkpoint int64
}

// Flush implements keyword.Engine: it writes a snapshot of the current state
// next to the old one and renames it, so that a crash leaves one or the other.
func (e *Engine) Flush(ctx context.Context) error {
	e.writing.Lock()
	defer e.writing.Unlock()
	s := e.state.Load()
	if s == nil {
		return errClosed
	}
	if e.path == "" || e.readOnly || s == e.flushed {
		return nil
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("keyword: flush: %w", err)
	}
	if err := writeFile(e.path, s); err != nil {
		return fmt.Errorf("keyword: flush: %w", err)
	}
	e.flushed = s
	return nil
}

// writeFile replaces the file. A partial file left by a crash is overwritten by the next call.
func writeFile(path string, s *state) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	temporary := path + ".tmp"
	f, err := os.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return err
	}
	err = writeSnapshot(f, s)
	if err == nil {
		err = f.Sync()
	}
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Rename(temporary, path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(temporary))
	}
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

func writeSnapshot(w io.Writer, s *state) error {
	out := bufio.NewWriterSize(w, 1<<20)
	if _, err := out.WriteString(snapshotMagic); err != nil {
		return err
	}
	sections := [][]byte{encode(snapshotHeader{snapshotVersion, uint32(len(s.parts)), s.checkpoint})}
	for _, p := range s.parts {
		sections = append(sections, p.sections()...)
	}
	for _, section := range sections {
		head := binary.LittleEndian.AppendUint64(nil, uint64(len(section)))
		head = binary.LittleEndian.AppendUint32(head, crc32.Checksum(section, castagnoli))
		if _, err := out.Write(head); err != nil {
			return err
		}
		if _, err := out.Write(section); err != nil {
			return err
		}
	}
	return out.Flush()
}

// encode returns a value or slice of fixed size in little-endian bytes.
func encode(v any) []byte {
	b, err := binary.Append(nil, binary.LittleEndian, v)
	if err != nil {
		panic(err) // a type without a fixed size
	}
	return b
}

// sections returns the part's sections.
func (p *part) sections() [][]byte {
	f := p.seg.forward
	out := [][]byte{[]byte(f.terms.text), encode(f.terms.offsets), encode(f.names), encode(f.ids), encode(f.dates),
		encode(f.first), encode(f.ordinals), encode(f.offsets), f.seqs, encode([]uint64(p.live[keyword.Documents]))}
	for i := range f.attrs {
		var values []byte
		for _, v := range f.attrs[i].values {
			values = append(binary.AppendUvarint(values, uint64(len(v))), v...)
		}
		out = append(out, values, encode(f.attrs[i].of))
	}
	return out
}

// load reads the snapshot; nil if there is none.
func (e *Engine) load() (*state, error) {
	data, err := os.ReadFile(e.path)
	if errors.Is(err, fs.ErrNotExist) {
		e.log.Info("no snapshot yet", "path", e.path)
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return readSnapshot(data, &e.scoring)
}

// readSnapshot makes a state from a snapshot.
func readSnapshot(data []byte, scoring *[2]Scoring) (*state, error) {
	data, ok := bytes.CutPrefix(data, []byte(snapshotMagic))
	if !ok {
		return nil, errors.New("not a keyword snapshot")
	}
	r := sectionReader{data: data}
	var h snapshotHeader
	section := r.next()
	if r.err == nil && len(section) != binary.Size(h) {
		r.err = errors.New("header of another size")
	}
	if r.err != nil {
		return nil, r.err
	}
	if _, err := binary.Decode(section, binary.LittleEndian, &h); err != nil {
		return nil, err
	}
	if h.Version != snapshotVersion {
		return nil, fmt.Errorf("version %d, want %d", h.Version, snapshotVersion)
	}
	var sources []mergeSource
	for i := uint32(0); i < h.Segments && r.err == nil; i++ {
		sources = append(sources, r.segment())
	}
	if r.err == nil && len(r.data) > 0 {
		r.err = errors.New("more bytes than sections")
	}
	if r.err != nil {
		return nil, r.err
	}
	return revive(sources, h.Checkpoint, scoring)
}

// revive makes a state from the stored segments.
func revive(sources []mergeSource, checkpoint int64, scoring *[2]Scoring) (*state, error) {
	var parts []*part
	seen := map[int64]bool{}
	for _, s := range sources {
		var dead []int64
		for r, id := range s.f.ids {
			switch {
			case s.live != nil && !s.live.has(r):
				dead = append(dead, id)
			case seen[id]:
				return nil, fmt.Errorf("record %d is in two segments", id)
			default:
				seen[id] = true
			}
		}
		seg, err := newSegment(s.f, scoring)
		if err != nil {
			return nil, err
		}
		parts = append(parts, newPart(seg).without(dead))
	}
	return newState(parts, checkpoint), nil
}

// sectionReader reads sections in order until one is invalid.
type sectionReader struct {
	data []byte
	err  error
}

const sectionHead = 8 + 4

// next returns the next section's bytes.
func (r *sectionReader) next() []byte {
	if r.err != nil {
		return nil
	}
	if len(r.data) < sectionHead {
		r.err = io.ErrUnexpectedEOF
		return nil
	}
	size, sum := binary.LittleEndian.Uint64(r.data), binary.LittleEndian.Uint32(r.data[8:])
	if size > uint64(len(r.data)-sectionHead) {
		r.err = io.ErrUnexpectedEOF
		return nil
	}
	section := r.data[sectionHead : sectionHead+int(size) : sectionHead+int(size)]
	r.data = r.data[sectionHead+int(size):]
	if crc32.Checksum(section, castagnoli) != sum {
		r.err = errors.New("checksum differs")
		return nil
	}
	return section
}

// numbers decodes the next section.
func numbers[T uint16 | uint32 | uint64 | int64](r *sectionReader) []T {
	var zero T
	section, size := r.next(), binary.Size(zero)
	out := make([]T, len(section)/size)
	if len(section)%size != 0 {
		r.err = errors.New("section of odd length")
		return nil
	}
	if _, err := binary.Decode(section, binary.LittleEndian, out); err != nil {
		r.err = err
	}
	return out
}

// segment decodes and checks the sections of one segment.
func (r *sectionReader) segment() mergeSource {
	f := &forward{}
	f.terms.text = string(r.next())
	f.terms.offsets = numbers[uint32](r)
	f.names = numbers[uint32](r)
	f.ids = numbers[int64](r)
	f.dates = numbers[int64](r)
	f.first = numbers[uint32](r)
	f.ordinals = numbers[uint16](r)
	f.offsets = numbers[uint32](r)
	f.seqs = bytes.Clone(r.next()) // so as not to keep the whole file
	live := bitset(numbers[uint64](r))
	for i := range f.attrs {
		f.attrs[i].values = r.strings()
		f.attrs[i].of = numbers[uint32](r)
	}
	if r.err != nil {
		return mergeSource{}
	}
	if len(live) == 0 {
		live = nil
	} else if len(live) != len(newBitset(len(f.ids))) {
		r.err = errors.New("deletions of another segment")
		return mergeSource{}
	}
	if r.err = f.validate(); r.err != nil {
		return mergeSource{}
	}
	return mergeSource{f, live}
}

// strings decodes a section of strings.
func (r *sectionReader) strings() []string {
	var out []string
	for section := r.next(); len(section) > 0; {
		n, size := binary.Uvarint(section)
		if size <= 0 || n > uint64(len(section)-size) {
			r.err = errors.New("malformed string")
			return nil
		}
		section = section[size:]
		out = append(out, string(section[:n]))
		section = section[n:]
	}
	return out
}
