package corpus

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
	"slices"

	"almanac/retrieval/analysis"
)

// Change is what other documents change of a corpus: the statistics of a corpus are the
// sum of its changes. Encoded, it is stored by the process that writes an index for those
// that leave the documents in the catalog.
type Change struct {
	Words []string // new ones
	Whole bool     // it begins with an empty corpus, and says nothing of the words

	records   []int64 // whose documents are others
	documents tree    // after it, if they are in memory
	sums      sums
	days      days
	terms     layer
}

// sums of what documents count, or of what they count more than others before.
type sums struct {
	documents, passages int64
	lengths             [analysis.NumFields]int64 // summed over documents
	passageLengths      [analysis.NumFields]int64 // summed over passages
}

// fields returns all of them.
func (s *sums) fields() (all []*int64) {
	all = []*int64{&s.documents, &s.passages}
	for f := range s.lengths {
		all = append(all, &s.lengths[f], &s.passageLengths[f])
	}
	return all
}

func (s *sums) add(others sums) {
	for i, n := range others.fields() {
		*s.fields()[i] += *n
	}
}

// measure adds documents, or takes them away.
func (s *sums) measure(documents []*Document, sign int64) {
	for _, d := range documents {
		s.documents += sign
		s.passages += sign * int64(d.Len())
		for f := range analysis.Field(analysis.NumFields) {
			n := sign * int64(d.Length(f))
			s.lengths[f] += n
			if f == analysis.Title || f == analysis.Path {
				n *= int64(d.Len()) // every passage has them
			}
			s.passageLengths[f] += n
		}
	}
}

// Counted is the change that adds documents of which no other edition was counted.
func Counted(documents []*Document) Change { return changeOf(documents, nil) }

func changeOf(added, removed []*Document) (c Change) {
	for _, list := range [][]*Document{added, removed} {
		for _, d := range list {
			c.records = append(c.records, d.Record)
		}
	}
	c.sums.measure(added, 1)
	c.sums.measure(removed, -1)
	c.days, c.terms = daysOf(added, removed), layerOf(added, removed)
	return c
}

// changeVersion is the first byte of an encoded change.
const changeVersion = 1

// Encode returns the change as DecodeChange reads it: sums, records, days and terms,
// each list after its length and its numbers after the one before, then words and a
// CRC-32C of everything.
func (c Change) Encode() []byte {
	b := append(make([]byte, 0, 64+6*len(c.terms.terms)), changeVersion)
	for _, n := range c.sums.fields() {
		b = binary.AppendVarint(b, *n)
	}
	records := slices.Clone(c.records)
	slices.Sort(records)
	b = binary.AppendUvarint(b, uint64(len(records)))
	last := int64(0)
	for _, r := range records {
		b = binary.AppendUvarint(b, uint64(r-last))
		last = r
	}
	b = binary.AppendUvarint(b, uint64(len(c.days)))
	last = 0
	for _, d := range c.days {
		b = binary.AppendVarint(b, int64(d.day)-last)
		b = binary.AppendVarint(b, int64(d.n))
		last = int64(d.day)
	}
	changed := 0
	for _, x := range c.terms.counts {
		if x != (counts{}) {
			changed++
		}
	}
	b = binary.AppendUvarint(b, uint64(changed))
	before := analysis.TermID(0)
	for i, x := range c.terms.counts {
		if x == (counts{}) {
			continue
		}
		t := c.terms.terms[i]
		b = binary.AppendUvarint(b, uint64(t-before))
		before = t
		for _, n := range [...]int32{x.documents, x.passages, x.titles} {
			b = binary.AppendVarint(b, int64(n))
		}
	}
	b = binary.AppendUvarint(b, uint64(len(c.Words)))
	for _, w := range c.Words {
		b = binary.AppendUvarint(b, uint64(len(w)))
		b = append(b, w...)
	}
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
}

// DecodeChange reads an encoded change. Its error wraps ErrCorrupt.
func DecodeChange(data []byte) (c Change, err error) {
	body := len(data) - crc32.Size
	if body < 1 || data[0] != changeVersion ||
		crc32.Checksum(data[:body], castagnoli) != binary.LittleEndian.Uint32(data[body:]) {
		return Change{}, fmt.Errorf("corpus: statistics of %d bytes: checksum: %w", len(data), ErrCorrupt)
	}
	r := &numbers{rest: data[1:body]}
	for _, n := range c.sums.fields() {
		*n = r.signed(math.MinInt64, math.MaxInt64)
	}
	c.records = make([]int64, r.length(1))
	last := int64(0)
	for i := range c.records {
		last += r.unsigned(math.MaxInt64 - last)
		c.records[i] = last
	}
	c.days = make(days, r.length(2))
	last = 0
	for i := range c.days {
		last += r.signed(math.MinInt32, math.MaxInt32)
		c.days[i] = dayCount{int(last), int(r.signed(math.MinInt32, math.MaxInt32))}
	}
	n := r.length(4)
	c.terms = layer{make([]analysis.TermID, n), make([]counts, n)}
	last = 0
	for i := range n {
		last += r.unsigned(math.MaxUint32 - last)
		c.terms.terms[i] = analysis.TermID(last)
		x := &c.terms.counts[i]
		for _, to := range [...]*int32{&x.documents, &x.passages, &x.titles} {
			*to = int32(r.signed(math.MinInt32, math.MaxInt32))
		}
	}
	c.Words = make([]string, r.length(1))
	for i := range c.Words {
		n := r.length(1)
		if n == 0 {
			r.fail() // a word has a character
		}
		c.Words[i] = string(r.rest[:n])
		r.rest = r.rest[n:]
	}
	if r.failed || len(r.rest) > 0 {
		return Change{}, fmt.Errorf("corpus: statistics of %d bytes: parts do not fit: %w", len(data), ErrCorrupt)
	}
	return c, nil
}

// numbers reads those of an encoded change. After a failure all are 0.
type numbers struct {
	rest   []byte
	failed bool
}

func (r *numbers) fail() int64 {
	r.rest, r.failed = nil, true
	return 0
}

// unsigned returns the next number, of at most so much.
func (r *numbers) unsigned(most int64) int64 {
	n, size := binary.Uvarint(r.rest)
	if size <= 0 || n > uint64(most) {
		return r.fail()
	}
	r.rest = r.rest[size:]
	return int64(n)
}

// signed returns the next number, between two.
func (r *numbers) signed(least, most int64) int64 {
	n, size := binary.Varint(r.rest)
	if size <= 0 || n < least || n > most {
		return r.fail()
	}
	r.rest = r.rest[size:]
	return n
}

// length returns the next number as that of things that take at least so many bytes each.
func (r *numbers) length(each int) int { return int(r.unsigned(int64(len(r.rest) / each))) }
