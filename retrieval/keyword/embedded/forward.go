package embedded

import (
	"encoding/binary"
	"fmt"
	"slices"

	"almanac/retrieval/keyword"
	"almanac/retrieval/passage"
)

// forward holds the records of a segment, by ascending id, with their tokens in
// reading order. Snapshots store it and segments are merged from it: posting
// lists are derived from it (see invert), so a file that passes validate and
// invert cannot have lists that contradict it.
//
// Record r has one slot with its title and path, followed by one slot for each
// of its passages with heading and body. A slot is two sequences. A sequence is
// the number of its tokens and for each token id<<1, if it is one position
// after the previous one, else id<<1|1 and the distance, all as varints. Ids
// are assigned by descending frequency, which keeps them short.
type forward struct {
	terms    vocabulary
	names    []uint32 // sequence id → index in terms
	ids      []int64  // of records, ascending
	dates    []int64  // of records: Unix microseconds, or noDate
	attrs    [numAttributes]column
	first    []uint32 // of records: their first passage; and the number of passages
	ordinals []uint16 // of passages
	offsets  []uint32 // of slots in seqs; and its length
	seqs     []byte
}

// titleSlot returns the slot with title and path of a record.
func (f *forward) titleSlot(record int) int { return int(f.first[record]) + record }

// passageSlot returns the slot with heading and body of a passage.
func (f *forward) passageSlot(record, passage int) int { return record + passage + 1 }

func (f *forward) passages() int { return len(f.ordinals) }

func (f *forward) passageID(record, p int) passage.ID {
	return passage.NewID(f.ids[record], int(f.ordinals[p]))
}

// find returns the index of a record.
func (f *forward) find(id int64) (int, bool) { return slices.BinarySearch(f.ids, id) }

// sequence is a decoded sequence.
type sequence struct {
	ids       []uint32
	positions []int32
}

// readSlot decodes the two sequences of a slot; false if they are malformed.
func (f *forward) readSlot(slot int, a, b *sequence) bool {
	data := f.seqs[f.offsets[slot]:f.offsets[slot+1]]
	data, ok := readSequence(data, uint32(len(f.names)), a)
	if !ok {
		return false
	}
	data, ok = readSequence(data, uint32(len(f.names)), b)
	return ok && len(data) == 0
}

// readSequence decodes one sequence of ids below limit and returns what
// follows it.
func readSequence(data []byte, limit uint32, s *sequence) ([]byte, bool) {
	s.ids, s.positions = s.ids[:0], s.positions[:0]
	n, size := binary.Uvarint(data)
	if size <= 0 || n > uint64(len(data)) {
		return nil, false
	}
	data = data[size:]
	i, position := 0, int32(-1)
	for ; n > 0; n-- {
		// The first two bytes are decoded inline: nearly all ids are that short.
		if i >= len(data) {
			return nil, false
		}
		v := uint64(data[i])
		i++
		if v >= 0x80 {
			if i < len(data) && data[i] < 0x80 {
				v = v&0x7f | uint64(data[i])<<7
				i++
			} else if v, size = binary.Uvarint(data[i-1:]); size > 0 {
				i += size - 1
			} else {
				return nil, false
			}
		}
		step := uint64(1)
		if v&1 != 0 {
			if step, size = binary.Uvarint(data[i:]); size <= 0 || step > 1<<24 {
				return nil, false
			}
			i += size
		}
		if v>>1 >= uint64(limit) || position > 1<<30 {
			return nil, false
		}
		position += int32(step)
		s.ids = append(s.ids, uint32(v>>1))
		s.positions = append(s.positions, position)
	}
	return data[i:], true
}

// appendSequence encodes a sequence; positions must not decrease.
func appendSequence(dst []byte, s *sequence) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(s.ids)))
	position := int32(-1)
	for i, id := range s.ids {
		step := s.positions[i] - position
		position = s.positions[i]
		if step == 1 {
			dst = binary.AppendUvarint(dst, uint64(id)<<1)
			continue
		}
		dst = binary.AppendUvarint(dst, uint64(id)<<1|1)
		dst = binary.AppendUvarint(dst, uint64(step))
	}
	return dst
}

// validate checks everything but the sequences, which invert reads.
func (f *forward) validate() error {
	switch {
	case len(f.dates) != len(f.ids) || len(f.first) != len(f.ids)+1 || f.first[0] != 0 ||
		int(f.first[len(f.ids)]) != len(f.ordinals):
		return fmt.Errorf("columns of different lengths")
	case len(f.offsets) != len(f.ids)+len(f.ordinals)+1 || !ascending(f.offsets, false) ||
		int(f.offsets[len(f.offsets)-1]) != len(f.seqs) || f.offsets[0] != 0:
		return fmt.Errorf("invalid offsets of slots")
	case !ascending(f.first, false) || !ascending(f.ids, true):
		return fmt.Errorf("records out of order")
	case len(f.terms.offsets) == 0 || f.terms.offsets[0] != 0 || !ascending(f.terms.offsets, false) ||
		int(f.terms.offsets[f.terms.len()]) != len(f.terms.text):
		return fmt.Errorf("invalid offsets of terms")
	case len(f.names) != f.terms.len():
		return fmt.Errorf("%d names for %d terms", len(f.names), f.terms.len())
	case len(f.ids) > 0 && (f.ids[0] < 0 || f.ids[len(f.ids)-1] > maxRecord):
		return fmt.Errorf("record id out of range")
	}
	for r := range f.ids {
		if !ascending(f.ordinals[f.first[r]:f.first[r+1]], true) {
			return fmt.Errorf("passages out of order")
		}
	}
	for _, n := range f.names {
		if int(n) >= f.terms.len() {
			return fmt.Errorf("term out of range")
		}
	}
	for i := 1; i < f.terms.len(); i++ {
		if f.terms.term(i-1) >= f.terms.term(i) {
			return fmt.Errorf("terms out of order")
		}
	}
	for i := range f.attrs {
		if err := f.attrs[i].validate(len(f.ids)); err != nil {
			return err
		}
	}
	return nil
}

// ascending reports whether the numbers never decrease, or always increase.
func ascending[T uint16 | uint32 | int64](list []T, strictly bool) bool {
	for i := 1; i < len(list); i++ {
		if list[i] < list[i-1] || strictly && list[i] == list[i-1] {
			return false
		}
	}
	return true
}

// builder makes a forward of the records of one batch. Sequence ids are
// assigned in order of first appearance, which is roughly that of frequency;
// merging orders them exactly.
type builder struct {
	f     forward
	known map[string]uint32
	terms []string // by sequence id
	seq   sequence
}

// maxRecord is the largest record id that leaves room for the ordinal of a
// passage.
const maxRecord = 1<<47 - 1

// maxSegmentBytes bounds the sequences of a segment.
const maxSegmentBytes = 1 << 31

// build makes a forward of records, which must be sorted by id and distinct.
func build(records []*keyword.Record) (*forward, error) {
	b := builder{known: map[string]uint32{}}
	b.f.offsets = append(b.f.offsets, 0)
	attrs := newColumnBuilders()
	for _, r := range records {
		if err := b.add(r); err != nil {
			return nil, fmt.Errorf("record %d: %w", r.ID, err)
		}
		attrs.add(r.Attributes)
		if len(b.f.seqs) > maxSegmentBytes {
			return nil, fmt.Errorf("batch has more than %d bytes of tokens", maxSegmentBytes)
		}
	}
	b.f.first = append(b.f.first, uint32(len(b.f.ordinals)))
	b.f.attrs = attrs.columns()
	order := make([]uint32, len(b.terms))
	for i := range order {
		order[i] = uint32(i)
	}
	slices.SortFunc(order, func(x, y uint32) int { return compareStrings(b.terms[x], b.terms[y]) })
	sorted := make([]string, len(order))
	b.f.names = make([]uint32, len(order))
	for i, id := range order {
		sorted[i] = b.terms[id]
		b.f.names[id] = uint32(i)
	}
	b.f.terms = newVocabulary(sorted)
	return &b.f, nil
}

func (b *builder) add(r *keyword.Record) error {
	if r.ID < 0 || r.ID > maxRecord {
		return fmt.Errorf("id out of range 0..%d", int64(maxRecord))
	}
	f := &b.f
	f.ids = append(f.ids, r.ID)
	f.dates = append(f.dates, dateOf(r.Attributes.Date))
	f.first = append(f.first, uint32(len(f.ordinals)))
	b.slot(&r.Title, &r.Path)
	passages := r.Passages
	if !slices.IsSortedFunc(passages, comparePassages) {
		passages = slices.SortedFunc(slices.Values(passages), comparePassages)
	}
	for i := range passages {
		p := &passages[i]
		if p.ID.Record() != r.ID {
			return fmt.Errorf("passage %d belongs to record %d", p.ID, p.ID.Record())
		}
		if i > 0 && p.ID == passages[i-1].ID {
			return fmt.Errorf("passage %d occurs twice", p.ID)
		}
		f.ordinals = append(f.ordinals, uint16(p.ID.Ordinal()))
		b.slot(&p.Heading, &p.Body)
	}
	return nil
}

func (b *builder) slot(first, second *keyword.Text) {
	for _, t := range [...]*keyword.Text{first, second} {
		b.seq.ids, b.seq.positions = b.seq.ids[:0], b.seq.positions[:0]
		for i, tokens := 0, inOrder(t.Tokens); i < len(tokens); i++ {
			term := tokens[i].Term
			if term == "" {
				continue
			}
			id, ok := b.known[term]
			if !ok {
				id = uint32(len(b.terms))
				b.known[term] = id
				b.terms = append(b.terms, term)
			}
			b.seq.ids = append(b.seq.ids, id)
			b.seq.positions = append(b.seq.positions, int32(min(max(tokens[i].Position, 0), maxPosition)))
		}
		b.f.seqs = appendSequence(b.f.seqs, &b.seq)
	}
	b.f.offsets = append(b.f.offsets, uint32(len(b.f.seqs)))
}
