package embedded

import (
	"encoding/binary"
	"errors"

	"almanac/retrieval/passage"
)

// attributes are the filterable words of the records of a segment.
type attributes struct {
	table []passage.Words // distinct
	of    []uint32        // of records: index in the table
}

func (a *attributes) validate(records int) error {
	if len(a.of) != records {
		return errors.New("attributes of another number of records")
	}
	for _, w := range a.of {
		if int(w) >= len(a.table) {
			return errors.New("attributes out of range")
		}
	}
	return nil
}

// encode returns the table as strings with their lengths.
func (a *attributes) encode() (b []byte) {
	for _, w := range a.table {
		for _, s := range [...]string{w.Kind, w.Source, w.Container, w.State} {
			b = append(binary.AppendUvarint(b, uint64(len(s))), s...)
		}
	}
	return b
}

var errWords = errors.New("malformed attributes")

// decode reads what encode has written.
func (a *attributes) decode(b []byte) error {
	for len(b) > 0 {
		var w passage.Words
		for _, s := range [...]*string{&w.Kind, &w.Source, &w.Container, &w.State} {
			n, size := binary.Uvarint(b)
			if size <= 0 || n > uint64(len(b)-size) {
				return errWords
			}
			*s, b = string(b[size:size+int(n)]), b[size+int(n):]
		}
		a.table = append(a.table, w)
	}
	return nil
}

// attributeBuilder collects the attributes of records.
type attributeBuilder struct {
	attributes
	known map[passage.Words]uint32
}

func (b *attributeBuilder) add(w passage.Words) {
	i, ok := b.known[w]
	if !ok {
		if b.known == nil {
			b.known = map[passage.Words]uint32{}
		}
		i = uint32(len(b.table))
		b.known[w] = i
		b.table = append(b.table, w)
	}
	b.of = append(b.of, i)
}
