package embedded

import (
	"cmp"
	"encoding/binary"
	"errors"
	"math"
	"math/bits"
	"slices"
	"sync"

	"almanac/retrieval/analysis"
	"almanac/retrieval/keyword"
)

var errMalformed = errors.New("malformed sequence")

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
	total   int64     // of lengths, in lengthUnits
	average float64   // of lengths; blockMax was computed with it
	freqs   []float64 // code → weighted frequency; the most common have the smallest codes

	df         []uint32 // of terms
	firstBlock []uint32 // of terms; and the number of blocks
	blockLast  []uint32 // last document of a block
	blockMax   []float32
	blockStart []uint32 // where its data begins
	data       []byte
}

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

// driftBound returns a bound for what was at most x under an older average
// length. blockMax holds the greatest saturation tf/(tf + c0 + c1·length) of a
// block under the segment's own average. Under the average of the whole index
// c0 + c1·length is at least r = min(1, own/whole) times what it was, and so x
// becomes at most x/(x + r(1-x)), which grows with x: bounds stay valid when
// the statistics drift, and are exact when they do not.
func driftBound(x, r float64) float64 { return x / (x + r*(1-x)) }

// segment is an immutable part of the index.
type segment struct {
	*forward
	recordOf []uint32    // of passages
	units    [2]postings // by keyword.Unit
}

// newSegment derives the posting lists from the sequences.
func newSegment(f *forward, scoring *[2]Scoring) (*segment, error) {
	s := &segment{forward: f, recordOf: make([]uint32, f.passages())}
	for r := range f.ids {
		for p := f.first[r]; p < f.first[r+1]; p++ {
			s.recordOf[p] = uint32(r)
		}
	}
	var wg sync.WaitGroup
	var ok [2]bool
	for u := range s.units {
		wg.Go(func() {
			in := newInverter(f, &scoring[u])
			if ok[u] = in.collect(keyword.Unit(u)); ok[u] {
				in.invert(&s.units[u])
			}
		})
	}
	wg.Wait()
	if ok != [2]bool{true, true} {
		return nil, errMalformed
	}
	return s, nil
}

// frequencies are the frequencies of a term in the fields of a document, 16
// bits each, where they saturate.
type frequencies uint64

const maxFrequency = 1<<16 - 1

func (t *frequencies) add(f analysis.Field) {
	if *t>>(16*f)&maxFrequency != maxFrequency {
		*t += 1 << (16 * f)
	}
}

func (t frequencies) weighted(weights *[analysis.NumFields]float64) float64 {
	sum := 0.0
	for f, w := range weights {
		sum += w * float64(t>>(16*f)&maxFrequency)
	}
	return sum
}

// entry is a posting before inversion.
type entry struct {
	term uint32 // index in the vocabulary
	code uint32
}

// inverter turns the sequences of a forward into the postings of one unit.
type inverter struct {
	f       *forward
	scoring *Scoring
	tf      []frequencies // of terms, in the current document
	seen    []uint32      // terms with tf
	length  [analysis.NumFields]int

	entries []entry
	ends    []uint32 // of documents in entries
	lengths []float32
	df      []uint32
	codes   map[frequencies]uint32
	common  [256]uint32 // code+1 by frequency, of terms in the body alone
	freqs   []float64   // by code
	uses    []uint32    // of codes
}

func newInverter(f *forward, scoring *Scoring) *inverter {
	n := f.terms.len()
	return &inverter{f: f, scoring: scoring, tf: make([]frequencies, n), df: make([]uint32, n),
		codes: map[frequencies]uint32{}, entries: make([]entry, 0, len(f.seqs)/3)}
}

// count adds the sequence to the current document.
func (in *inverter) count(ids []uint32, field analysis.Field) {
	if in.scoring.FieldWeights[field] == 0 {
		return
	}
	in.length[field] += len(ids)
	for _, id := range ids {
		term := in.f.names[id]
		if in.tf[term] == 0 {
			in.seen = append(in.seen, term)
		}
		in.tf[term].add(field)
	}
}

// finish ends the current document.
func (in *inverter) finish() {
	for _, term := range in.seen {
		code := in.code(in.tf[term])
		in.uses[code]++
		in.entries = append(in.entries, entry{term, code})
		in.df[term]++
		in.tf[term] = 0
	}
	length := 0.0
	for f, n := range in.length {
		length += in.scoring.FieldWeights[f] * float64(n)
	}
	in.lengths = append(in.lengths, float32(length))
	in.ends = append(in.ends, uint32(len(in.entries)))
	in.seen, in.length = in.seen[:0], [analysis.NumFields]int{}
}

func (in *inverter) code(t frequencies) uint32 {
	body := t >> (16 * analysis.Body)
	if t == body<<(16*analysis.Body) && body < 256 && in.common[body] != 0 {
		return in.common[body] - 1
	}
	code, ok := in.codes[t]
	if !ok {
		code = uint32(len(in.freqs))
		in.codes[t] = code
		in.freqs = append(in.freqs, t.weighted(&in.scoring.FieldWeights))
		in.uses = append(in.uses, 0)
		if t == body<<(16*analysis.Body) && body < 256 {
			in.common[body] = code + 1
		}
	}
	return code
}

// collect reads all documents of the unit; false if a sequence is malformed.
//
// A document has the part of a heading path that a passage shares with the
// previous one only once, as a reader sees the heading once.
func (in *inverter) collect(unit keyword.Unit) bool {
	var title, path, heading, body, before sequence
	f := in.f
	for r := range f.ids {
		if !f.readSlot(f.titleSlot(r), &title, &path) {
			return false
		}
		if unit == keyword.Documents {
			in.count(title.ids, analysis.Title)
			in.count(path.ids, analysis.Path)
		}
		before.ids = before.ids[:0]
		for p := int(f.first[r]); p < int(f.first[r+1]); p++ {
			if !f.readSlot(f.passageSlot(r, p), &heading, &body) {
				return false
			}
			if unit == keyword.Documents {
				shared := commonPrefix(before.ids, heading.ids)
				in.count(heading.ids[shared:], analysis.Heading)
				in.count(body.ids, analysis.Body)
				before, heading = heading, before
				continue
			}
			in.count(title.ids, analysis.Title)
			in.count(path.ids, analysis.Path)
			in.count(heading.ids, analysis.Heading)
			in.count(body.ids, analysis.Body)
			in.finish()
		}
		if unit == keyword.Documents {
			in.finish()
		}
	}
	return true
}

func commonPrefix(a, b []uint32) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// invert sorts the entries by term and packs them.
func (in *inverter) invert(p *postings) {
	p.lengths, p.df = in.lengths, in.df
	for _, l := range p.lengths {
		p.total += inUnits(l)
	}
	p.average = average(p.total, len(p.lengths))
	ranked := in.rankCodes(p)
	start := make([]uint32, len(p.df)+1)
	blocks := 0
	for t, n := range p.df {
		start[t+1] = start[t] + n
		blocks += int(n+blockSize-1) / blockSize
	}
	docs, codes := make([]uint32, len(in.entries)), make([]uint32, len(in.entries))
	next := slices.Clone(start)
	for doc, i := 0, uint32(0); doc < len(in.ends); doc++ {
		for ; i < in.ends[doc]; i++ {
			e := in.entries[i]
			at := next[e.term]
			next[e.term]++
			docs[at], codes[at] = uint32(doc), ranked[e.code]
		}
	}
	p.firstBlock = make([]uint32, 0, len(p.df)+1)
	p.blockLast, p.blockMax, p.blockStart = make([]uint32, 0, blocks), make([]float32, 0, blocks),
		make([]uint32, 0, blocks)
	p.data = make([]byte, 0, len(in.entries)*2)
	c0, c1 := in.scoring.norm(p.average)
	for t := range p.df {
		p.firstBlock = append(p.firstBlock, uint32(len(p.blockLast)))
		before := -1
		for lo, hi := start[t], start[t+1]; lo < hi; lo += blockSize {
			end := min(lo+blockSize, hi)
			p.pack(before, docs[lo:end], codes[lo:end], c0, c1)
			before = int(docs[end-1])
		}
	}
	p.firstBlock = append(p.firstBlock, uint32(len(p.blockLast)))
	p.data = slices.Clone(append(p.data, make([]byte, 8)...)) // so that eight bytes can be read at any offset
}

// rankCodes orders the weighted frequencies by use and returns the new codes.
func (in *inverter) rankCodes(p *postings) []uint32 {
	order := make([]uint32, len(in.freqs))
	for i := range order {
		order[i] = uint32(i)
	}
	slices.SortFunc(order, func(a, b uint32) int {
		return cmp.Or(cmp.Compare(in.uses[b], in.uses[a]), cmp.Compare(a, b))
	})
	ranked := make([]uint32, len(order))
	for rank, code := range order {
		ranked[code] = uint32(rank)
		p.freqs = append(p.freqs, in.freqs[code])
	}
	return ranked
}

// pack appends a block; before is the previous document in the list.
func (p *postings) pack(before int, docs, codes []uint32, c0, c1 float64) {
	p.blockStart = append(p.blockStart, uint32(len(p.data)))
	p.blockLast = append(p.blockLast, docs[len(docs)-1])
	var maxGap, maxCode uint32
	best := 0.0
	last := before
	for i, d := range docs {
		maxGap = max(maxGap, uint32(int(d)-last-1))
		maxCode = max(maxCode, codes[i])
		last = int(d)
		tf := p.freqs[codes[i]]
		best = max(best, tf/(tf+c0+c1*float64(p.lengths[d])))
	}
	p.blockMax = append(p.blockMax, min(1, math.Nextafter32(float32(best), 2)))
	gapBits, codeBits := bits.Len32(maxGap), bits.Len32(maxCode)
	p.data = append(p.data, byte(gapBits), byte(codeBits))
	w := bitWriter{dst: p.data}
	last = before
	for _, d := range docs {
		w.write(uint64(int(d)-last-1), gapBits)
		last = int(d)
	}
	w.align()
	for _, c := range codes {
		w.write(uint64(c), codeBits)
	}
	w.align()
	p.data = w.dst
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

// unpack reads n numbers of the width from data, which must have eight more bytes after them.
func unpack(data []byte, width, n int, dst *[blockSize]uint32) {
	if width == 0 {
		clear(dst[:n])
		return
	}
	mask := uint64(1)<<width - 1
	for i, bit := 0, 0; i < n; i, bit = i+1, bit+width {
		dst[i] = uint32(binary.LittleEndian.Uint64(data[bit>>3:]) >> (bit & 7) & mask)
	}
}
