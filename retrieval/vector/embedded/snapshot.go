package embedded

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"runtime"

	"golang.org/x/sync/errgroup"

	"almanac/retrieval/bitset"
	"almanac/retrieval/passage"
	"almanac/retrieval/snapshot"
)

// A snapshot has a file of rows for each block and one of all records. A changed
// record writes that, the last block and the manifest: 6 MB for a million
// vectors of 200,000 records. What the files omit is derived from them: ids and
// which rows are visible.
//
//	rows-N     components int16, codes uint64
//	records-N  ids and dates int64, first rows, numbers of rows, attributes uint32
//
// The format names the model: a snapshot of another is not read.
func (c Config) format() string {
	return fmt.Sprintf("vectors 2, %d dimensions, model %q", c.Dimensions, c.Model)
}

// state is what the manifest holds beside its files.
type state struct {
	Checkpoint int64
	Attributes []passage.Words
	Centre     []float32
	Coded      int // rows when the centre was computed
	Rows       int
	Records    string   // file
	Blocks     []string // files
}

// store writes snapshots. It knows which file a block is in.
type store struct {
	*snapshot.Store
	records snapshot.File
	blocks  map[uint64]stored // by serial
}

type stored struct {
	file snapshot.File
	rows int
}

// save writes the view: of the records and each block only what has changed
// since the last snapshot.
func (x *Index) save(ctx context.Context, v *view) error {
	s := state{Checkpoint: v.checkpoint, Attributes: v.attributes, Centre: v.coder.centre, Coded: v.coded, Rows: v.rows}
	blocks, files := make(map[uint64]stored, len(v.blocks)), make([]snapshot.File, 0, len(v.blocks)+1)
	for _, b := range v.blocks {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		at, ok := x.store.blocks[b.serial]
		if !ok || at.rows != len(b.ids) {
			file, err := x.store.Create("rows", func(w *snapshot.Writer) {
				snapshot.Write(w, b.rows)
				snapshot.Write(w, b.codes)
			})
			if err != nil {
				return err
			}
			at = stored{file, len(b.ids)}
		}
		blocks[b.serial] = at
		files, s.Blocks = append(files, at.file), append(s.Blocks, at.file.Name)
	}
	records := x.store.records
	if x.flushed == nil || !sameArray(x.flushed.entries, v.entries) {
		var err error
		if records, err = x.store.Create("records", v.writeEntries); err != nil {
			return err
		}
	}
	s.Records = records.Name
	if err := x.store.Commit(append(files, records), s); err != nil {
		return err
	}
	x.store.records, x.store.blocks = records, blocks
	return nil
}

// sameArray reports whether tables of entries are one: a view never changes.
func sameArray(a, b []entry) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

func (v *view) writeEntries(w *snapshot.Writer) {
	snapshot.Write(w, column(v.entries, func(e entry) int64 { return e.id }))
	snapshot.Write(w, column(v.entries, func(e entry) int64 { return e.date }))
	snapshot.Write(w, column(v.entries, func(e entry) uint32 { return e.first }))
	snapshot.Write(w, column(v.entries, func(e entry) uint32 { return e.n }))
	snapshot.Write(w, column(v.entries, func(e entry) uint32 { return e.attributes }))
}

func column[T any](entries []entry, of func(entry) T) []T {
	values := make([]T, len(entries))
	for i, e := range entries {
		values[i] = of(e)
	}
	return values
}

func readEntries(r *snapshot.Reader) ([]entry, error) {
	ids, dates := snapshot.Next[int64](r), snapshot.Next[int64](r)
	first, n, attributes := snapshot.Next[uint32](r), snapshot.Next[uint32](r), snapshot.Next[uint32](r)
	if len(dates) != len(ids) || len(first) != len(ids) || len(n) != len(ids) || len(attributes) != len(ids) {
		return nil, fmt.Errorf("%w: columns of different lengths", snapshot.ErrDamaged)
	}
	entries := make([]entry, len(ids))
	for i, id := range ids {
		entries[i] = entry{id: id, date: dates[i], first: first[i], n: n[i], attributes: attributes[i]}
	}
	return entries, nil
}

// load returns nil, and logs why, if there is no usable snapshot. Then it opens
// the store, which removes what cannot be used.
func (x *Index) load() (v *view, err error) {
	c, files := x.config, &store{}
	err = snapshot.Read(c.Path, c.format(), func(s *snapshot.Snapshot) (err error) {
		v, files, err = read(s, c)
		return err
	})
	switch {
	case errors.Is(err, fs.ErrNotExist):
		c.Log.Info("no snapshot yet", "path", c.Path)
		v, files = nil, &store{}
	case errors.Is(err, snapshot.ErrDamaged) || errors.Is(err, snapshot.ErrFormat):
		c.Log.Warn("snapshot is not used, the index is built again", "path", c.Path, "reason", err)
		v, files = nil, &store{}
	case err != nil:
		return nil, err
	}
	if c.ReadOnly {
		return v, nil
	}
	x.store = files
	files.Store, err = snapshot.NewStore(c.Path, c.format())
	return v, err
}

// read reads a snapshot, several blocks at a time.
func read(from *snapshot.Snapshot, c Config) (*view, *store, error) {
	var s state
	if err := from.State(&s); err != nil {
		return nil, nil, err
	}
	v := &view{checkpoint: s.Checkpoint, attributes: s.Attributes, rows: s.Rows, coded: s.Coded,
		coder: newCoder(c.Dimensions).about(s.Centre)}
	if s.Rows < 0 || s.Rows > math.MaxInt32 || len(s.Blocks) != (s.Rows+blockRows-1)/blockRows ||
		len(s.Centre) != c.Dimensions {
		return nil, nil, fmt.Errorf("%w: %d rows in %d blocks", snapshot.ErrDamaged, s.Rows, len(s.Blocks))
	}
	v.blocks, v.serial = make([]block, len(s.Blocks)), uint64(len(s.Blocks))
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i, name := range s.Blocks {
		group.Go(func() error {
			return from.Read(name, func(r *snapshot.Reader) (err error) {
				v.blocks[i], err = readBlock(r, v.coder, min(blockRows, s.Rows-i*blockRows))
				v.blocks[i].serial = uint64(i + 1)
				return err
			})
		})
	}
	group.Go(func() error {
		return from.Read(s.Records, func(r *snapshot.Reader) (err error) {
			v.entries, err = readEntries(r)
			return err
		})
	})
	if err := group.Wait(); err != nil {
		return nil, nil, err
	}
	files := &store{blocks: make(map[uint64]stored, len(v.blocks))}
	files.records, _ = from.File(s.Records) // it was read
	for i, b := range v.blocks {
		file, _ := from.File(s.Blocks[i])
		files.blocks[b.serial] = stored{file, len(b.ids)}
	}
	return v, files, v.derive()
}

// readBlock reads a block of so many rows; its ids are filled in later.
func readBlock(r *snapshot.Reader, c *coder, rows int) (block, error) {
	b := block{rows: snapshot.Next[int16](r), codes: snapshot.Next[uint64](r)}
	if len(b.rows) != rows*c.stride || len(b.codes) != c.codesOf(rows) {
		return b, fmt.Errorf("%w: not a block of %d rows", snapshot.ErrDamaged, rows)
	}
	b.ids = make([]passage.ID, rows)
	return b, nil
}

// derive computes what a snapshot omits, and checks that entries and rows agree.
func (v *view) derive() error {
	v.visible = bitset.New(v.rows)
	taken := bitset.New(v.rows)
	v.dead = v.rows
	for i, e := range v.entries {
		if i > 0 && v.entries[i-1].id >= e.id || e.n == 0 || e.n > passage.MaxPerRecord ||
			int64(e.first)+int64(e.n) > int64(v.rows) || int(e.attributes) >= len(v.attributes) {
			return fmt.Errorf("%w: entry of record %d", snapshot.ErrDamaged, e.id)
		}
		v.dead -= int(e.n)
		for n := range int(e.n) {
			row := int(e.first) + n
			if taken.Has(row) {
				return fmt.Errorf("%w: row %d belongs to two records", snapshot.ErrDamaged, row)
			}
			taken.Set(row)
			b, at := v.block(row)
			b.ids[at] = passage.NewID(e.id, n)
			if !isZero(v.row(row)) {
				v.visible.Set(row)
				v.found++
			}
		}
	}
	return nil
}
