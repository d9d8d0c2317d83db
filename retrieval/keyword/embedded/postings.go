package embedded

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"
)

// blockSize is the number of postings that are packed together.
const blockSize = 128

// postings are the inverted lists of one unit in one segment: for each term the
// documents that have it, ascending, with its weighted frequency.
//
// A list is cut into blocks (Ding and Suel, "Faster top-k document retrieval
// using block-max indexes", 2011). A block's data is the bit width of the gaps
// between its documents less one, the bit width of its codes, the packed gaps
// and the packed codes. A code stands for a weighted frequency (see freqs).
type postings struct {
	lengths []float32 // of documents, weighted
	freqs   []float64 // code → weighted frequency; the most common have the smallest codes
	uses    []uint32  // of codes, about: deleted documents may count

	df         []uint32 // of terms
	blockLast  []uint32 // last document of a block
	blockMax   []float32
	blockStart []uint32 // where its data begins
	data       []byte   // and padding

	// Derived from these:
	firstBlock []uint32 // of terms; and the number of blocks
	total      int64    // of lengths, in lengthUnits
	average    float64  // of lengths; blockMax was computed with it
}

// padding lets eight bytes be read at any offset of the data.
const padding = 8

// Lengths are summed as integers, so that sums do not depend on the order of
// additions and deletions.
const lengthUnit = 1 << 24

func inUnits(length float32) int64 { return int64(float64(length) * lengthUnit) }

func average(total int64, docs int) float64 {
	if docs == 0 {
		return 0
	}
	return float64(total) / lengthUnit / float64(docs)
}

func (p *postings) docs() int { return len(p.lengths) }

func (p *postings) size() int {
	return len(p.data) + 12*len(p.blockLast) + 8*len(p.df) + 4*len(p.lengths) + 12*len(p.freqs)
}

// derive fills in what is not stored.
func (p *postings) derive() {
	p.measure()
	p.firstBlock = make([]uint32, len(p.df)+1)
	for t, n := range p.df {
		p.firstBlock[t+1] = p.firstBlock[t] + blocks(n)
	}
}

// measure sums the lengths.
func (p *postings) measure() {
	p.total = 0
	for _, l := range p.lengths {
		p.total += inUnits(l)
	}
	p.average = average(p.total, len(p.lengths))
}

// blocks is the number of blocks of n postings.
func blocks(n uint32) uint32 { return (n + blockSize - 1) / blockSize }

// driftBound returns a bound for what was at most x under an older average
// length. blockMax holds the greatest saturation tf/(tf + c0 + c1·length) of a
// block under the segment's own average. Under the average of the whole index
// c0 + c1·length is at least r = min(1, own/whole) times what it was, and so x
// becomes at most x/(x + r(1-x)), which grows with x: bounds stay valid when
// the statistics drift, and are exact when they do not.
func driftBound(x, r float64) float64 { return x / (x + r*(1-x)) }

var errLists = errors.New("malformed lists")

// validate checks lists that were read, block for block; derive comes after it.
func (p *postings) validate(terms, docs int) error {
	if len(p.df) != terms || len(p.lengths) != docs || len(p.uses) != len(p.freqs) ||
		len(p.blockMax) != len(p.blockLast) || len(p.blockStart) != len(p.blockLast) || len(p.data) < padding {
		return errLists
	}
	for _, l := range p.lengths {
		if !(l >= 0 && l <= math.MaxUint32) {
			return fmt.Errorf("a document of length %v", l)
		}
	}
	for _, tf := range p.freqs {
		if !(tf > 0 && tf <= math.MaxUint32) {
			return fmt.Errorf("a weighted frequency of %v", tf)
		}
	}
	total := uint64(0)
	for _, n := range p.df {
		if int(n) > docs {
			return errLists
		}
		total += uint64(blocks(n))
	}
	if total != uint64(len(p.blockLast)) {
		return errLists
	}
	b := 0
	for _, n := range p.df {
		before := -1
		for left := int(n); left > 0; left -= blockSize {
			if !p.validBlock(b, min(left, blockSize), before) {
				return errLists
			}
			before = int(p.blockLast[b])
			b++
		}
	}
	return nil
}

// validBlock reports whether a block of n postings can be read: its documents
// follow the one before, end with blockLast, and exist, as do its codes.
func (p *postings) validBlock(b, n, before int) bool {
	start, last := int(p.blockStart[b]), int(p.blockLast[b])
	if last >= p.docs() || !(p.blockMax[b] >= 0 && p.blockMax[b] <= 1) || start+2+padding > len(p.data) {
		return false
	}
	gapBits, codeBits := int(p.data[start]), int(p.data[start+1])
	gaps, codes := (gapBits*n+7)/8, (codeBits*n+7)/8
	if gapBits > 32 || codeBits > 32 || start+2+gaps+codes+padding > len(p.data) {
		return false
	}
	var numbers [blockSize]uint32
	unpack(p.data[start+2:], gapBits, numbers[:n])
	doc := before
	for _, gap := range numbers[:n] {
		doc += int(gap) + 1
	}
	if doc != last {
		return false
	}
	unpack(p.data[start+2+gaps:], codeBits, numbers[:n])
	return int(slices.Max(numbers[:n])) < len(p.freqs)
}

// codes number the weighted frequencies of lists.
type codes struct {
	of    map[float64]uint32
	freqs []float64
	uses  []uint32
}

func newCodes() codes { return codes{of: map[float64]uint32{}} }

// use returns the code of a weighted frequency, which n more postings have.
func (c *codes) use(tf float64, n uint32) uint32 {
	code, ok := c.of[tf]
	if !ok {
		code = uint32(len(c.freqs))
		c.of[tf] = code
		c.freqs, c.uses = append(c.freqs, tf), append(c.uses, 0)
	}
	c.uses[code] += n
	return code
}

// rank gives the most used frequencies the smallest codes, those of the lists,
// and returns the new codes.
func (c *codes) rank(p *postings) []uint32 {
	order := make([]uint32, len(c.freqs))
	for i := range order {
		order[i] = uint32(i)
	}
	slices.SortStableFunc(order, func(a, b uint32) int { return cmp.Compare(c.uses[b], c.uses[a]) })
	newCodes := make([]uint32, len(order))
	for rank, code := range order {
		newCodes[code] = uint32(rank)
		p.freqs = append(p.freqs, c.freqs[code])
		p.uses = append(p.uses, c.uses[code])
	}
	return newCodes
}

// posting is a document and a code; postings order by document.
type posting uint64

func newPosting(doc, code uint32) posting { return posting(doc)<<32 | posting(code) }

func (p posting) doc() uint32  { return uint32(p >> 32) }
func (p posting) code() uint32 { return uint32(p) }

// listWriter packs lists, term for term.
type listWriter struct {
	p      *postings
	c0, c1 float64
}

// newListWriter writes to postings that have lengths and frequencies.
func newListWriter(p *postings, scoring *Scoring) *listWriter {
	p.measure()
	w := &listWriter{p: p}
	w.c0, w.c1 = scoring.norm(p.average)
	return w
}

// add appends the list of the next term.
func (w *listWriter) add(list []posting) {
	w.p.df = append(w.p.df, uint32(len(list)))
	before := -1
	for len(list) > 0 {
		n := min(len(list), blockSize)
		w.pack(before, list[:n])
		before = int(list[n-1].doc())
		list = list[n:]
	}
}

func (w *listWriter) close() {
	p := w.p
	p.df, p.blockLast, p.blockMax, p.blockStart = slices.Clip(p.df), slices.Clip(p.blockLast),
		slices.Clip(p.blockMax), slices.Clip(p.blockStart)
	p.data = slices.Clone(append(p.data, make([]byte, padding)...))
}

// pack appends a block; before is the previous document in the list.
func (w *listWriter) pack(before int, list []posting) {
	p := w.p
	var maxGap, maxCode uint32
	best := 0.0
	last := before
	for _, x := range list {
		maxGap = max(maxGap, uint32(int(x.doc())-last-1))
		maxCode = max(maxCode, x.code())
		last = int(x.doc())
		tf := p.freqs[x.code()]
		best = max(best, tf/(tf+w.c0+w.c1*float64(p.lengths[last])))
	}
	p.blockStart = append(p.blockStart, uint32(len(p.data)))
	p.blockLast = append(p.blockLast, uint32(last))
	p.blockMax = append(p.blockMax, min(1, math.Nextafter32(float32(best), 2)))
	gapBits, codeBits := bits.Len32(maxGap), bits.Len32(maxCode)
	out := bitWriter{dst: append(p.data, byte(gapBits), byte(codeBits))}
	last = before
	for _, x := range list {
		out.write(uint64(int(x.doc())-last-1), gapBits)
		last = int(x.doc())
	}
	out.align()
	for _, x := range list {
		out.write(uint64(x.code()), codeBits)
	}
	out.align()
	p.data = out.dst
}

// bitWriter appends numbers of up to 32 bits, least significant bit first.
type bitWriter struct {
	dst  []byte
	acc  uint64
	bits int
}

func (w *bitWriter) write(v uint64, width int) {
	w.acc |= v << w.bits
	w.bits += width
	for w.bits >= 8 {
		w.dst = append(w.dst, byte(w.acc))
		w.acc >>= 8
		w.bits -= 8
	}
}

// align fills up the last byte.
func (w *bitWriter) align() {
	if w.bits > 0 {
		w.dst = append(w.dst, byte(w.acc))
		w.acc, w.bits = 0, 0
	}
}

// unpack reads numbers of the width from data, which must have eight more bytes
// after them.
func unpack(data []byte, width int, dst []uint32) {
	mask := uint64(1)<<width - 1
	bit := 0
	for i := range dst {
		dst[i] = uint32(binary.LittleEndian.Uint64(data[bit>>3:]) >> (bit & 7) & mask)
		bit += width
	}
}

// unpackGaps reads the documents whose gaps less one are packed, after the one
// before them.
func unpackGaps(data []byte, width int, before uint32, dst []uint32) {
	mask := uint64(1)<<width - 1
	bit := 0
	for i := range dst {
		before += uint32(binary.LittleEndian.Uint64(data[bit>>3:])>>(bit&7)&mask) + 1
		dst[i] = before
		bit += width
	}
}
