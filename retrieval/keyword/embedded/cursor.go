package embedded

import (
	"sort"

	"almanac/retrieval/bitset"
)

// cursor reads one posting list forwards.
type cursor struct {
	p          *postings
	block, end int // the current block and the end of the list
	before     int // last document of the previous block
	left       int // postings from the current block on
	loaded     bool
	coded      bool // codes are unpacked
	n, i       int  // postings of the block; the current posting
	docs       [blockSize]uint32
	codes      [blockSize]uint32

	// Of the term in this query:
	scale  float64 // times the saturation gives the score in scoreUnits
	c0, c1 float64
	drift  float64 // of the segment, see driftBound
	bound  int64   // of the score in the current window, or in the whole list
}

// open places the cursor before a term's first posting.
func (c *cursor) open(p *postings, term uint32) {
	c.p, c.block, c.end = p, int(p.firstBlock[term]), int(p.firstBlock[term+1])
	c.before, c.left = -1, int(p.df[term])
	c.loaded = false
}

// load unpacks the documents of the current block.
func (c *cursor) load() {
	if c.loaded {
		return
	}
	c.loaded, c.coded = true, false
	c.n, c.i = min(c.left, blockSize), 0
	data := c.p.data[c.p.blockStart[c.block]:]
	unpackGaps(data[2:], int(data[0]), uint32(c.before), c.docs[:c.n])
}

// loadCodes unpacks the codes of the current block, which is loaded.
func (c *cursor) loadCodes() {
	if c.coded {
		return
	}
	c.coded = true
	data := c.p.data[c.p.blockStart[c.block]:]
	skip := 2 + (int(data[0])*c.n+7)/8
	unpack(data[skip:], int(data[1]), c.codes[:c.n])
}

// nextBlock moves to the next block.
func (c *cursor) nextBlock() {
	c.before = int(c.p.blockLast[c.block])
	c.left -= blockSize
	c.block++
	c.loaded = false
}

// seekBlock moves to the first block from the current one on that can have
// documents from doc on; false if there is none.
func (c *cursor) seekBlock(doc uint32) bool {
	last := c.p.blockLast
	if c.block >= c.end {
		return false
	}
	if last[c.block] >= doc {
		return true
	}
	// Gallop, then search.
	lo, step := c.block, 1
	for lo+step < c.end && last[lo+step] < doc {
		lo += step
		step *= 2
	}
	lo++
	hi := min(lo+step, c.end)
	to := lo + sort.Search(hi-lo, func(i int) bool { return last[lo+i] >= doc })
	c.left -= (to - c.block) * blockSize
	c.before, c.block, c.loaded = int(last[to-1]), to, false
	return to < c.end
}

// seek moves to the first posting from doc on and reports whether it is doc's.
func (c *cursor) seek(doc uint32) bool {
	if !c.seekBlock(doc) {
		return false
	}
	c.load()
	i := c.i
	for c.docs[i] < doc { // ends: the block's last document is not before doc
		i++
	}
	c.i = i
	return c.docs[i] == doc
}

// score returns the score of the current posting.
func (c *cursor) score() int64 {
	c.loadCodes()
	return c.weigh(c.p.freqs[c.codes[c.i]], c.p.lengths[c.docs[c.i]])
}

// weigh returns the score of a weighted frequency in a document of the length.
// The conversion keeps the compiler from fusing operations in some places only:
// equal documents must have equal scores.
func (c *cursor) weigh(tf float64, length float32) int64 {
	return int64(c.scale * tf / (tf + c.c0 + float64(c.c1*float64(length))))
}

// boundIn returns the greatest score that a document lo ≤ d < hi can have; the
// cursor must not be past lo.
func (c *cursor) boundIn(lo, hi uint32) int64 {
	if !c.seekBlock(lo) {
		return 0
	}
	best := c.block
	for b := c.block + 1; b < c.end && c.p.blockLast[b-1]+1 < hi; b++ {
		if c.p.blockMax[b] > c.p.blockMax[best] {
			best = b
		}
	}
	return c.blockBound(best)
}

// blockBound returns the greatest score that a document of a block can have.
func (c *cursor) blockBound(block int) int64 {
	return int64(c.scale*driftBound(float64(c.p.blockMax[block]), c.drift)) + 1
}

// each calls fn with every document of the list.
func (p *postings) each(term uint32, fn func(doc int)) {
	var c cursor
	c.open(p, term)
	for ; c.block < c.end; c.nextBlock() {
		c.load()
		for _, d := range c.docs[:c.n] {
			fn(int(d))
		}
	}
}

// set returns the set of documents of the list.
func (p *postings) set(term uint32) bitset.Set {
	set := bitset.New(p.docs())
	p.each(term, set.Set)
	return set
}
