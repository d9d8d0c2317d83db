package corpus

import (
	"cmp"
	"encoding/binary"
	"hash/crc32"
	"math"
	"math/bits"
	"slices"

	"almanac/catalog"
	"almanac/retrieval/analysis"
	"almanac/retrieval/dedup"
)

// Version identifies which records are documents, what is encoded of them, and which
// words are kept: part of an index's fingerprint.
const Version = "7"

// An encoded document is one run of bytes, little endian, the same in memory and
// in the database:
//
//	header   version, flags, bits of a token, number of own terms (1 byte each);
//	         numbers of terms, passages, detailed terms, trigrams and tokens in
//	         headings (4 bytes each); date in microseconds (0: unknown), record of the
//	         thread (0: none; 8 bytes each)
//	strings  kind, source, container, state, key, title, each after its length
//	marks    their number, then of each its term (4 bytes) and twice its passage, one more
//	         for an option (4 bytes), ascending; a document without any has formatUnmarked
//	         and not even the number
//	own      terms of the record's own name
//	trigrams of the title, ascending
//	terms    distinct, ascending
//	details  of terms whose count does not hold what there is to say of them
//	starts   number of the first token of title and path, and of each passage's
//	         heading and body; last the number of all tokens
//	signature of the bodies, of an endpoint of the title
//	counts   one byte a term
//	steps    one bit a token: whether it stands one position after the one before
//	tokens   the number of the term of each, in just enough bits
//	four bytes of padding, CRC-32C of everything before it
//
// A token costs 1 bit and those of a number among the document's terms, where a
// term's id has 32: a document of 1,000 tokens repeats some 400 terms.
const (
	headerSize = 4 + 5*4 + 2*8
	markSize   = 4 + 4
	detailSize = 4 + 2 + 2*analysis.NumFields
	padding    = 4 // so that the last token can be read as 8 bytes, with the checksum

	flagSecondary, flagStub, flagOver = 1, 2, 4
)

// A count holds how often a term occurs in the bodies (4 bits) and in how many
// passages (3 bits), for terms that are nowhere else; any other is detailed.
const (
	countPassages = 4 // shift
	countDetailed = 0x80
)

// encoder gathers what is known of a document's tokens.
type encoder struct {
	tokens   []analysis.TermID // title, path, and each passage's heading and body
	steps    []bool
	starts   []int
	bodies   []analysis.TermID
	headings int // tokens in them
	marks    []Mark
}

// Mark says that a passage writes a term as a heading that is nothing but it, or, as an
// option of a command is written, behind a hyphen.
type Mark struct {
	Term    analysis.TermID
	Passage int
	Option  bool
}

// packed is the second half of an encoded mark.
func (m Mark) packed() uint32 {
	if m.Option {
		return uint32(m.Passage)<<1 | 1
	}
	return uint32(m.Passage) << 1
}

func (e *encoder) add(terms analysis.Terms) {
	e.starts = append(e.starts, len(e.tokens))
	last := 0
	for i := range terms.Len() {
		position := terms.Position(i)
		e.tokens = append(e.tokens, terms.ID(i))
		e.steps = append(e.steps, position > last) // the analyzer leaves out no position
		last = position
	}
}

// NewDocument makes the document of a record and the packed terms of its
// passages, by ordinal.
func NewDocument(r catalog.Record, passages []analysis.Packed, marks ...Mark) *Document {
	e := encoder{marks: marks}
	slices.SortFunc(e.marks, func(a, b Mark) int {
		return cmp.Or(cmp.Compare(a.Term, b.Term), cmp.Compare(a.packed(), b.packed()))
	})
	var title, path analysis.Terms
	if len(passages) > 0 {
		title, path = passages[0].Field(analysis.Title), passages[0].Field(analysis.Path)
	}
	e.add(title)
	e.add(path)
	for _, p := range passages {
		e.add(p.Field(analysis.Heading))
		e.add(p.Field(analysis.Body))
		body := e.starts[len(e.starts)-1]
		e.headings += body - e.starts[len(e.starts)-2]
		e.bodies = append(e.bodies, e.tokens[body:]...)
	}
	e.starts = append(e.starts, len(e.tokens))
	raw := string(e.encode(r, len(passages)))
	d, err := Decode(r.ID, raw)
	if err != nil {
		panic("corpus: a document cannot be read back: " + err.Error())
	}
	return d
}

func (e *encoder) encode(r catalog.Record, passages int) []byte {
	numbers, terms, all := e.terms()
	width := bits.Len(uint(max(0, len(terms)-1)))
	attributes, trigrams := AttributesOf(r), Trigrams(r.Title)
	own := ownTerms(r)
	own = own[:min(len(own), math.MaxUint8)]
	counts := make([]byte, len(all))
	var details []byte
	detailed := 0
	for k, x := range all {
		if counts[k] = x.count(); counts[k] == countDetailed {
			details = x.append(details, k)
			detailed++
		}
	}
	var flags byte
	if secondary(r) {
		flags |= flagSecondary
	}
	if stub(r) {
		flags |= flagStub
	}
	if r.Over() {
		flags |= flagOver
	}
	le := binary.LittleEndian
	version := byte(formatVersion)
	if len(e.marks) == 0 {
		version = formatUnmarked
	}
	b := []byte{version, flags, byte(width), byte(len(own))}
	for _, n := range []int{len(terms), passages, detailed, len(trigrams), e.headings} {
		b = le.AppendUint32(b, uint32(n))
	}
	date := int64(0)
	if !attributes.Date.IsZero() {
		date = attributes.Date.UnixMicro()
	}
	b = le.AppendUint64(b, uint64(date))
	thread := int64(0)
	if r.Kind.InThread() {
		thread = r.Parent
	}
	b = le.AppendUint64(b, uint64(thread))
	for _, s := range []string{attributes.Kind, attributes.Source, attributes.Container, attributes.State, r.Key,
		r.Title} {
		b = binary.AppendUvarint(b, uint64(len(s)))
		b = append(b, s...)
	}
	if len(e.marks) > 0 {
		b = le.AppendUint32(b, uint32(len(e.marks)))
	}
	for _, m := range e.marks {
		b = le.AppendUint32(le.AppendUint32(b, uint32(m.Term)), m.packed())
	}
	b = appendUint32s(b, own)
	b = appendUint32s(b, trigrams)
	b = appendUint32s(b, terms)
	b = append(b, details...)
	b = appendUint32s(b, e.starts)
	signed := e.bodies
	if r.Kind == catalog.KindEndpoint {
		signed = e.tokens[e.starts[0]:e.starts[1]]
	}
	b = append(b, dedup.Sign(signed)...)
	b = append(b, counts...)
	b = appendBits(b, e.steps, 1, func(step bool) uint64 {
		if step {
			return 1
		}
		return 0
	})
	b = appendBits(b, numbers, width, func(k uint32) uint64 { return uint64(k) })
	b = append(b, make([]byte, padding)...)
	return le.AppendUint32(b, crc32.Checksum(b, castagnoli))
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// terms returns for each token the number of its term, the distinct terms,
// ascending, and what there is to say of each.
func (e *encoder) terms() (numbers []uint32, terms []analysis.TermID, all []detail) {
	order := make([]uint64, len(e.tokens)) // term, token
	for i, t := range e.tokens {
		order[i] = uint64(t)<<32 | uint64(i)
	}
	slices.Sort(order)
	numbers = make([]uint32, len(e.tokens))
	passages := (len(e.starts) - 3) / 2
	part, last := 0, -1 // of starts; the passage counted last
	for i, x := range order {
		term, token := analysis.TermID(x>>32), int(uint32(x))
		if i == 0 || term != terms[len(terms)-1] {
			terms, all = append(terms, term), append(all, detail{})
			part, last = 0, -1
		}
		numbers[token] = uint32(len(terms) - 1)
		for token >= e.starts[part+1] {
			part++
		}
		d := &all[len(all)-1]
		field := [...]analysis.Field{analysis.Title, analysis.Path, analysis.Heading, analysis.Body}[min(part, 2+part%2)]
		d.fields[field] = saturated(int(d.fields[field]) + 1)
		switch p := (part - 2) >> 1; {
		case part < 2:
			d.passages, last = saturated(passages), passages // title and path are in all of them
		case p > last:
			d.passages, last = saturated(int(d.passages)+1), p
		}
	}
	return numbers, terms, all
}

// detail is what there is to say of a term of a document.
type detail struct {
	passages uint16 // that hold it
	fields   [analysis.NumFields]uint16
}

func saturated(n int) uint16 { return uint16(min(n, math.MaxUint16)) }

func (x detail) count() byte {
	body := x.fields[analysis.Body]
	if x.fields != [analysis.NumFields]uint16{analysis.Body: body} || body > 1<<countPassages-1 ||
		x.passages > countDetailed>>countPassages-1 {
		return countDetailed
	}
	return byte(x.passages<<countPassages | body)
}

func (x detail) append(b []byte, k int) []byte {
	b = binary.LittleEndian.AppendUint32(b, uint32(k))
	b = binary.LittleEndian.AppendUint16(b, x.passages)
	for _, n := range x.fields {
		b = binary.LittleEndian.AppendUint16(b, n)
	}
	return b
}

func appendUint32s[T ~uint32 | ~int](b []byte, list []T) []byte {
	for _, x := range list {
		b = binary.LittleEndian.AppendUint32(b, uint32(x))
	}
	return b
}

// appendBits appends values of so many bits each, the first in the lowest.
func appendBits[T any](b []byte, list []T, width int, value func(T) uint64) []byte {
	var buffer uint64
	filled := 0
	for _, x := range list {
		buffer |= value(x) << filled
		for filled += width; filled >= 8; filled -= 8 {
			b = append(b, byte(buffer))
			buffer >>= 8
		}
	}
	if filled > 0 {
		b = append(b, byte(buffer))
	}
	return b
}
