package embedded

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"

	"almanac/retrieval/passage"
)

// A snapshot is, all numbers little-endian:
//
//	magic       8 bytes
//	header      length uint32, JSON, CRC-32C
//	centre      dimensions float32, CRC-32C
//	entries     32 bytes each, CRC-32C
//	block       vectors, quants, codes, CRC-32C; for every block of rows
//
// The rest is derived from these, which is cheap: ids, scales, tallies and
// which rows are visible. Sizes follow from the header, so the file's length is
// known before anything is allocated.
const (
	snapshotMagic   = "almvec\r\n"
	snapshotVersion = 1
	entryBytes      = 8 + 8 + 4 + 4 + 4 + 4
)

// header describes a snapshot.
type header struct {
	Version    int
	Model      string
	Dimensions int
	Checkpoint int64
	Entries    int
	Rows       int
	Coded      int // rows when the centre was computed
	Attributes []attributes
}

// size returns the length of the file after the header.
func (h header) size(c *coder) int64 {
	blocks := int64(h.Rows+blockRows-1) / blockRows
	row := int64(4*c.dimensions + c.dimensions + 8*c.words())
	return int64(4*c.dimensions) + 4 + int64(h.Entries)*entryBytes + 4 + int64(h.Rows)*row + 4*blocks
}

var (
	castagnoli = crc32.MakeTable(crc32.Castagnoli)

	errDamaged = errors.New("damaged")
	errOther   = errors.New("of another format or model")
)

// writeSnapshot replaces the file in one step: a crash at any moment leaves
// the old one or the new one.
func writeSnapshot(ctx context.Context, c Config, v *view) (err error) {
	dir := filepath.Dir(c.Path)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, temporary(c.Path))
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = f.Close()
			_ = os.Remove(f.Name()) // a leftover file does no harm
		}
	}()
	buffered := bufio.NewWriterSize(f, 1<<20)
	if err := v.write(ctx, &sectionWriter{w: buffered}, c.Model); err != nil {
		return err
	}
	if err := buffered.Flush(); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), c.Path); err != nil {
		return err
	}
	return syncDirectory(dir)
}

// temporary returns the pattern of the files that a killed write leaves behind.
func temporary(path string) string { return filepath.Base(path) + ".*.tmp" }

func syncDirectory(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}

func (v *view) write(ctx context.Context, w *sectionWriter, model string) error {
	head, err := json.Marshal(header{
		Version: snapshotVersion, Model: model, Dimensions: v.dimensions(), Checkpoint: v.checkpoint,
		Entries: len(v.entries), Rows: v.rows, Coded: v.coded, Attributes: v.attributes,
	})
	if err != nil {
		return err
	}
	w.bytes([]byte(snapshotMagic))
	w.sum = 0
	w.bytes(binary.LittleEndian.AppendUint32(nil, uint32(len(head))))
	w.bytes(head)
	w.end()
	w.floats(v.coder.centre)
	w.end()
	for _, e := range v.entries {
		w.bytes(e.encode())
	}
	w.end()
	for _, b := range v.blocks {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		w.floats(b.vectors)
		w.int8s(b.quants)
		w.words(b.codes)
		w.end()
	}
	return w.err
}

func (e entry) encode() []byte {
	raw := binary.LittleEndian.AppendUint64(make([]byte, 0, entryBytes), uint64(e.id))
	raw = binary.LittleEndian.AppendUint64(raw, uint64(e.date))
	raw = binary.LittleEndian.AppendUint32(raw, e.first)
	raw = binary.LittleEndian.AppendUint32(raw, e.n)
	raw = binary.LittleEndian.AppendUint32(raw, e.attributes)
	return binary.LittleEndian.AppendUint32(raw, 0)
}

func decodeEntry(raw []byte) entry {
	return entry{
		id:         int64(binary.LittleEndian.Uint64(raw)),
		date:       int64(binary.LittleEndian.Uint64(raw[8:])),
		first:      binary.LittleEndian.Uint32(raw[16:]),
		n:          binary.LittleEndian.Uint32(raw[20:]),
		attributes: binary.LittleEndian.Uint32(raw[24:]),
	}
}

// readSnapshot returns nil, and logs why, if there is no usable snapshot.
func readSnapshot(c Config) (*view, error) {
	if !c.ReadOnly {
		removeLitter(c)
	}
	f, err := os.Open(c.Path)
	if errors.Is(err, fs.ErrNotExist) {
		c.Log.Info("no snapshot yet", "path", c.Path)
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	v, err := decodeSnapshot(bufio.NewReaderSize(f, 1<<20), info.Size(), c)
	if errors.Is(err, errDamaged) || errors.Is(err, errOther) {
		c.Log.Warn("snapshot is not used, the index is built again", "path", c.Path, "reason", err)
		return nil, nil
	}
	return v, err
}

func removeLitter(c Config) {
	litter, _ := filepath.Glob(filepath.Join(filepath.Dir(c.Path), temporary(c.Path))) // a bad pattern finds nothing
	for _, name := range litter {
		if err := os.Remove(name); err != nil {
			c.Log.Warn("cannot remove the file of an unfinished flush", "path", name, "error", err)
		}
	}
}

// decodeSnapshot reads a snapshot of the given size.
func decodeSnapshot(from io.Reader, size int64, c Config) (*view, error) {
	r := &sectionReader{r: from}
	h, err := r.header(size)
	if err != nil {
		return nil, err
	}
	if h.Version != snapshotVersion || h.Model != c.Model || h.Dimensions != c.Dimensions {
		return nil, fmt.Errorf("%w: version %d, model %q, %d dimensions", errOther, h.Version, h.Model, h.Dimensions)
	}
	v := &view{checkpoint: h.Checkpoint, attributes: h.Attributes, rows: h.Rows, coded: h.Coded,
		coder: newCoder(h.Dimensions)}
	if h.Rows < 0 || h.Entries < 0 || h.Rows > math.MaxInt32 || h.Entries > math.MaxInt32 ||
		r.n+h.size(v.coder) != size {
		return nil, fmt.Errorf("%w: %d bytes do not hold %d rows of %d records", errDamaged, size, h.Rows, h.Entries)
	}
	r.floats(v.coder.centre)
	r.end()
	v.entries = make([]entry, h.Entries)
	for i := range v.entries {
		v.entries[i] = decodeEntry(r.bytes(entryBytes))
	}
	r.end()
	for left := h.Rows; left > 0 && r.err == nil; left -= blockRows {
		v.blocks = append(v.blocks, r.block(v.coder, min(left, blockRows)))
	}
	if r.err != nil {
		return nil, r.err
	}
	if err := v.derive(); err != nil {
		return nil, err
	}
	return v, nil
}

// derive computes what a snapshot omits, and checks that entries and rows agree.
func (v *view) derive() error {
	v.visible = make(bitset, words(v.rows))
	taken := make(bitset, words(v.rows))
	v.dead = v.rows
	for i, e := range v.entries {
		if i > 0 && v.entries[i-1].id >= e.id || e.n == 0 || e.n > passage.MaxPerRecord ||
			int64(e.first)+int64(e.n) > int64(v.rows) || int(e.attributes) >= len(v.attributes) {
			return fmt.Errorf("%w: entry of record %d", errDamaged, e.id)
		}
		v.dead -= int(e.n)
		for n := range int(e.n) {
			row := int(e.first) + n
			if taken.has(row) {
				return fmt.Errorf("%w: row %d belongs to two records", errDamaged, row)
			}
			taken.set(row)
			b, at := v.block(row)
			b.ids[at] = passage.NewID(e.id, n)
			if b.scales[at] > 0 {
				v.visible.set(row)
				v.found++
			}
		}
	}
	return nil
}
