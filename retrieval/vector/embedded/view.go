package embedded

import (
	"cmp"
	"slices"

	"almanac/retrieval/bitset"
	"almanac/retrieval/passage"
	"almanac/retrieval/vector/kernel"
)

// blockRows is how many rows share a block of memory and a file; 4.6 MB at 256
// dimensions.
const blockRows = 8192

// view is one state of the index. It never changes once published: the next one
// shares what a batch does not change. Rows are only added after those of a
// published view, in the same arrays, so that a batch copies the table of
// entries, the bits of visible rows and the codes of one block, but no row.
type view struct {
	checkpoint int64
	entries    []entry // by record id
	attributes []passage.Words
	blocks     []block // all full but the last
	rows       int
	visible    bitset.Set // rows that can be found: of an entry, and not zero
	found      int        // number of them
	dead       int        // rows that no longer belong to an entry
	coder      *coder
	coded      int    // rows when the coder was made
	serial     uint64 // of the last block that was made
}

// entry is a record: its passages are n rows from first, by ordinal.
type entry struct {
	id         int64
	date       int64 // passage.Attributes.UnixMicro
	first, n   uint32
	attributes uint32 // index in the view's
}

// block holds up to blockRows rows, each kind of value in its own array,
// because each step of a search reads one.
type block struct {
	// serial identifies the content: a block of the same serial and number of
	// rows is the same block.
	serial uint64
	ids    []passage.ID
	rows   []int16
	codes  []uint64 // in groups of rows, as kernel.Codes takes them
}

// block returns the block of a row and its index there.
func (v *view) block(row int) (*block, int) { return &v.blocks[row/blockRows], row % blockRows }

func (v *view) id(row int) passage.ID {
	b, i := v.block(row)
	return b.ids[i]
}

func (v *view) row(row int) []int16 {
	b, i := v.block(row)
	n := v.coder.stride
	return b.rows[i*n : (i+1)*n]
}

// entry finds a record.
func (v *view) entry(id int64) (entry, bool) {
	i, ok := slices.BinarySearchFunc(v.entries, id, func(e entry, id int64) int { return cmp.Compare(e.id, id) })
	if !ok {
		return entry{}, false
	}
	return v.entries[i], true
}

// reserve makes room for twice as many rows, at most for a whole block.
func (b *block) reserve(c *coder) {
	rows := min(blockRows, max(64, 2*cap(b.ids)))
	b.ids = append(make([]passage.ID, 0, rows), b.ids...)
	b.rows = append(make([]int16, 0, rows*c.stride), b.rows...)
	b.codes = append(make([]uint64, 0, c.codesOf(rows)), b.codes...)
}

// appendCode appends the code of the row that was appended last.
func (b *block) appendCode(c *coder) {
	at, group := len(b.ids)-1, kernel.GroupRows*c.words()
	if at%kernel.GroupRows == 0 {
		b.codes = b.codes[:len(b.codes)+group]
	}
	last := b.codes[len(b.codes)-group:]
	c.code(b.rows[at*c.stride:], last[at%kernel.GroupRows:])
}
