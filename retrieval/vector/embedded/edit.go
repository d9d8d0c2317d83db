package embedded

import (
	"slices"

	"almanac/retrieval/bitset"
	"almanac/retrieval/passage"
)

// edit is a view under construction: a copy of the published one, whose parts
// are replaced before they are written to.
type edit struct {
	view
	changed bool // anything but the checkpoint
	owned   bool // visible and blocks are not shared
	coding  bool // nor are the codes of the last block
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
	next := entry{id: c.id, date: c.date, attributes: c.attributes, n: uint32(len(c.rows))}
	if exists && e.same(old, c.rows) {
		next.first = old.first
		e.changed = e.changed || next != old
		return next
	}
	if exists {
		e.own()
		e.drop(int(old.first), int(old.first+old.n))
	}
	next.first = uint32(e.rows)
	for i, row := range c.rows {
		e.append(passage.NewID(c.id, i), row)
	}
	return next
}

// drop declares rows of an entry dead.
func (e *edit) drop(from, to int) {
	for row := from; row < to; row++ {
		if e.visible.Has(row) {
			e.visible.Clear(row)
			e.found--
		}
	}
	e.dead += to - from
}

// same reports whether an entry has exactly these rows.
func (e *edit) same(old entry, rows [][]int16) bool {
	if int(old.n) != len(rows) {
		return false
	}
	for i, row := range rows {
		if !slices.Equal(e.row(int(old.first)+i), row) {
			return false
		}
	}
	return true
}

// append adds a row.
func (e *edit) append(id passage.ID, row []int16) {
	e.own()
	if e.rows%blockRows == 0 {
		e.serial++
		e.blocks = append(e.blocks, block{serial: e.serial})
		e.coding = true
	}
	if e.rows%64 == 0 {
		e.visible = append(e.visible, 0)
	}
	b := &e.blocks[len(e.blocks)-1]
	switch {
	case len(b.ids) == cap(b.ids):
		b.reserve(e.coder)
	case !e.coding: // searches read the whole last group of codes
		b.codes = append(make([]uint64, 0, cap(b.codes)), b.codes...)
	}
	e.coding = true
	b.ids = append(b.ids, id)
	b.rows = append(b.rows, row...)
	b.appendCode(e.coder)
	if !isZero(row) {
		e.visible.Set(e.rows)
		e.found++
	}
	e.rows++
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
	// being cleaned and recoded often.
	minDead  = 1024
	minCoded = exactRows / 2
	// meanRows bounds the rows that a mean is computed from.
	meanRows = 1 << 14
)

// tidy cleans blocks while a quarter of all rows is dead, and makes new codes
// about the new mean when there are twice as many rows as the last time: codes
// about the mean of other texts are less precise. Both take amortised constant
// time per row added or removed.
func (e *edit) tidy() {
	for e.dead >= minDead && e.dead*4 >= e.rows {
		e.clean(e.deadest())
	}
	if e.rows >= minCoded && e.rows >= 2*e.coded {
		e.recode()
	}
}

// deadest returns the block of the most dead rows.
func (e *edit) deadest() (deadest int) {
	dead := make([]int, len(e.blocks))
	for i, b := range e.blocks {
		dead[i] = len(b.ids)
	}
	for _, en := range e.entries {
		for row := int(en.first); row < int(en.first+en.n); {
			n := min(int(en.first+en.n), (row/blockRows+1)*blockRows) - row
			dead[row/blockRows] -= n
			row += n
		}
	}
	for i, n := range dead {
		if n > dead[deadest] {
			deadest = i
		}
	}
	return deadest
}

// clean removes a block and adds the rows of its entries again: as in a
// log-structured file system, one block at a time (Rosenblum and Ousterhout,
// SOSP 1991), so that it takes little memory and changes few blocks.
func (e *edit) clean(removed int) {
	e.own()
	old := e.view
	from, to := removed*blockRows, removed*blockRows+len(e.blocks[removed].ids)
	var moved []int
	for i := range e.entries {
		en := &e.entries[i]
		if first, last := int(en.first), int(en.first+en.n); first < to && last > from {
			moved = append(moved, i)
			e.drop(first, last)
		} else if first >= to {
			en.first -= uint32(to - from)
		}
	}
	old.blocks = slices.Clone(old.blocks)
	e.blocks = slices.Delete(e.blocks, removed, removed+1)
	e.visible = slices.Delete(e.visible, from/64, bitset.Words(to))
	e.rows, e.dead = e.rows-(to-from), e.dead-(to-from)
	e.coding = e.coding && removed < len(e.blocks)
	for _, i := range moved {
		en := &e.entries[i]
		first := int(en.first)
		en.first = uint32(e.rows)
		for n := range int(en.n) {
			e.append(passage.NewID(en.id, n), old.row(first+n))
		}
	}
}

// recode makes new codes for all rows.
func (e *edit) recode() {
	e.own()
	e.coder = e.coder.about(e.mean())
	e.coded, e.coding = e.rows, true
	for i := range e.blocks {
		b := &e.blocks[i]
		e.serial++
		b.serial = e.serial
		b.codes = make([]uint64, 0, e.coder.codesOf(cap(b.ids)))
		ids := b.ids
		for n := range ids {
			b.ids = ids[:n+1]
			b.appendCode(e.coder)
		}
	}
}

// mean returns the mean of the visible rows, or of evenly spaced ones.
func (e *edit) mean() []float32 {
	sum, n := make([]float64, e.coder.dimensions), 0
	step := max(1, e.rows/meanRows)
	for row := 0; row < e.rows; row += step {
		if !e.visible.Has(row) {
			continue
		}
		n++
		for i, c := range e.row(row)[:len(sum)] {
			sum[i] += float64(c)
		}
	}
	mean := make([]float32, len(sum))
	for i := range mean {
		mean[i] = float32(sum[i] / float64(max(n, 1)))
	}
	return mean
}
