package embedded

import (
	"cmp"
	"math"
	"slices"

	"almanac/retrieval/passage"
)

// blockRows is how many vectors share a block of memory; 11 MB at 256
// dimensions.
const blockRows = 8192

// view is one state of the index. It never changes once published: the next one
// shares what a batch does not change. Rows are only added after those of a
// published view, in the same arrays, so that a batch copies the table of
// entries and the bits of visible rows but no vector.
type view struct {
	checkpoint int64
	entries    []entry // by record id
	attributes []attributes
	blocks     []block
	rows       int
	visible    bitset // rows that can be found: of an entry, and not zero
	found      int    // number of them
	dead       int    // rows that no longer belong to an entry
	coder      *coder
	coded      int // rows when the coder was made
}

// entry is a record: its passages are n rows from first, by ordinal.
type entry struct {
	id         int64
	date       int64 // microseconds
	first, n   uint32
	attributes uint32
}

// block holds up to blockRows rows, each kind of value in its own array,
// because each step of a search reads one.
type block struct {
	ids     []passage.ID
	vectors []float32 // as given
	quants  []int8    // vectors over scale, rounded
	scales  []float32 // 0 of a zero vector
	codes   []uint64
	tallies []int32 // see coder.tally
}

func (v *view) dimensions() int { return v.coder.dimensions }

// block returns the block of a row and its index there.
func (v *view) block(row int) (*block, int) { return &v.blocks[row/blockRows], row % blockRows }

func (v *view) id(row int) passage.ID {
	b, i := v.block(row)
	return b.ids[i]
}

func (v *view) vector(row int) []float32 {
	b, i := v.block(row)
	return b.vectors[i*v.coder.dimensions : (i+1)*v.coder.dimensions]
}

// entry finds a record.
func (v *view) entry(id int64) (entry, bool) {
	i, ok := slices.BinarySearchFunc(v.entries, id, func(e entry, id int64) int { return cmp.Compare(e.id, id) })
	if !ok {
		return entry{}, false
	}
	return v.entries[i], true
}

// edit is a view under construction: a copy of the published one, whose parts
// are replaced before they are written to.
type edit struct {
	view
	changed bool // anything but the checkpoint
	owned   bool // visible and blocks are not shared
}

func (e *edit) own() {
	e.changed = true
	if !e.owned {
		e.visible, e.blocks, e.owned = slices.Clone(e.visible), slices.Clone(e.blocks), true
	}
}

// apply makes one change and returns the record's new entry, which has no
// rows if the record is gone.
func (e *edit) apply(c change) entry {
	old, exists := e.entry(c.id)
	next := entry{id: c.id, date: c.date, attributes: c.attributes, n: uint32(len(c.vectors))}
	if exists && e.same(old, c.vectors) {
		next.first = old.first
		e.changed = e.changed || next != old
		return next
	}
	if exists {
		e.own()
		for row := int(old.first); row < int(old.first+old.n); row++ {
			if e.visible.has(row) {
				e.visible.clear(row)
				e.found--
			}
		}
		e.dead += int(old.n)
	}
	next.first = uint32(e.rows)
	for i, v := range c.vectors {
		e.append(passage.NewID(c.id, i), v)
	}
	return next
}

// same reports whether an entry has exactly these vectors.
func (e *edit) same(old entry, vectors [][]float32) bool {
	if int(old.n) != len(vectors) {
		return false
	}
	for i, v := range vectors {
		if !slices.Equal(e.vector(int(old.first)+i), v) {
			return false
		}
	}
	return true
}

// append adds a row.
func (e *edit) append(id passage.ID, v []float32) {
	e.own()
	if e.rows%blockRows == 0 {
		e.blocks = append(e.blocks, block{})
	}
	if e.rows%64 == 0 {
		e.visible = append(e.visible, 0)
	}
	b := &e.blocks[len(e.blocks)-1]
	if len(b.ids) == cap(b.ids) {
		b.grow(e.coder)
	}
	b.ids = append(b.ids, id)
	b.vectors = append(b.vectors, v...)
	scale := quantum(v)
	b.scales = append(b.scales, scale)
	for _, c := range v {
		b.quants = append(b.quants, quantize(c, scale))
	}
	e.coder.appendCode(b, v)
	if scale > 0 {
		e.visible.set(e.rows)
		e.found++
	}
	e.rows++
}

// grow makes room for twice as many rows, at most for a whole block.
func (b *block) grow(c *coder) {
	rows := min(blockRows, max(64, 2*cap(b.ids)))
	b.ids = append(make([]passage.ID, 0, rows), b.ids...)
	b.vectors = append(make([]float32, 0, rows*c.dimensions), b.vectors...)
	b.quants = append(make([]int8, 0, rows*c.dimensions), b.quants...)
	b.scales = append(make([]float32, 0, rows), b.scales...)
	b.codes = append(make([]uint64, 0, rows*c.words()), b.codes...)
	b.tallies = append(make([]int32, 0, rows), b.tallies...)
}

// quantum is the scale at which a vector's components fit an int8.
func quantum(v []float32) float32 {
	var greatest float32
	for _, c := range v {
		greatest = max(greatest, c, -c)
	}
	return greatest / math.MaxInt8
}

func quantize(c, scale float32) int8 {
	if scale == 0 {
		return 0
	}
	return int8(math.RoundToEven(float64(c / scale)))
}

// mergeEntries returns old without the changed records and with the edited
// ones, both by id.
func mergeEntries(old []entry, changes []change, edited []entry) []entry {
	merged := make([]entry, 0, len(old)+len(edited))
	for _, en := range old {
		for len(changes) > 0 && changes[0].id < en.id {
			changes = changes[1:]
		}
		for len(edited) > 0 && edited[0].id < en.id {
			merged, edited = append(merged, edited[0]), edited[1:]
		}
		if len(changes) == 0 || changes[0].id != en.id {
			merged = append(merged, en)
		}
	}
	return append(merged, edited...)
}

const (
	// minDead and minCoded keep small indexes, which are scanned exactly, from
	// being compacted and recoded often.
	minDead  = 1024
	minCoded = exactRows / 2
	// meanRows bounds the rows that a mean is computed from.
	meanRows = 1 << 14
)

// tidy compacts the rows when a quarter of them is dead, and makes new codes
// about the new mean when there are twice as many as the last time: codes about
// the mean of other texts are less precise. Both take amortised constant time
// per row added or removed.
func (e *edit) tidy() {
	if e.dead >= minDead && e.dead*4 >= e.rows {
		e.compact()
	}
	if e.rows >= minCoded && e.rows >= 2*e.coded {
		e.recode()
	}
}

// compact copies the rows of entries, in the order of entries.
func (e *edit) compact() {
	old := e.view
	e.view.blocks, e.view.visible = nil, nil
	e.rows, e.found, e.dead = 0, 0, 0
	e.owned = true
	for i := range e.entries { // merged for this edit, so not shared
		en := &e.entries[i]
		first := e.rows
		for row := int(en.first); row < int(en.first+en.n); row++ {
			e.append(old.id(row), old.vector(row))
		}
		en.first = uint32(first)
	}
}

// recode makes new codes for all rows.
func (e *edit) recode() {
	e.own()
	e.coder = e.coder.about(e.mean())
	e.coded = e.rows
	for i := range e.blocks {
		b := &e.blocks[i]
		b.codes = make([]uint64, 0, cap(b.ids)*e.coder.words())
		b.tallies = make([]int32, 0, cap(b.ids))
		for n := range b.ids {
			e.coder.appendCode(b, b.vectors[n*e.dimensions():(n+1)*e.dimensions()])
		}
	}
}

// mean returns the mean of the visible vectors, or of evenly spaced ones.
func (e *edit) mean() []float32 {
	sum, n := make([]float64, e.dimensions()), 0
	step := max(1, e.rows/meanRows)
	for row := 0; row < e.rows; row += step {
		if !e.visible.has(row) {
			continue
		}
		n++
		for i, c := range e.vector(row) {
			sum[i] += float64(c)
		}
	}
	mean := make([]float32, len(sum))
	for i := range mean {
		mean[i] = float32(sum[i] / float64(max(n, 1)))
	}
	return mean
}
