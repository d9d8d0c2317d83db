package analysis

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// ErrCorrupt is wrapped by every error of View.
var ErrCorrupt = errors.New("corrupt packed terms")

// MaxPosition is the largest position that is packed; every later one is packed as it.
const MaxPosition = 1<<16 - 1

const (
	packMagic  = 0xA1
	headerSize = 1 + 4*NumFields
)

// Pack encodes the tokens of a passage: a header (one byte of format, the
// number of tokens of each field as uint32), then for each field its term
// ids (uint32) and its positions (uint16), all little endian, in the order
// given.
func Pack(fields [NumFields][]Token) []byte {
	n := 0
	for _, tokens := range fields {
		n += len(tokens)
	}
	b := make([]byte, 0, headerSize+6*n)
	b = append(b, packMagic)
	for _, tokens := range fields {
		b = binary.LittleEndian.AppendUint32(b, uint32(len(tokens)))
	}
	for _, tokens := range fields {
		for _, t := range tokens {
			b = binary.LittleEndian.AppendUint32(b, uint32(IDOf(t.Term)))
		}
		for _, t := range tokens {
			b = binary.LittleEndian.AppendUint16(b, uint16(min(t.Position, MaxPosition)))
		}
	}
	return b
}

// Packed is a view of packed terms. It aliases the bytes it was made from
// and costs no decoding.
type Packed struct {
	fields [NumFields]Terms
}

// Terms are the packed terms of one field, in position order.
type Terms struct {
	ids, positions []byte
}

// View checks packed bytes and returns their view. An empty slice is a
// passage without terms.
func View(b []byte) (Packed, error) {
	var p Packed
	if len(b) == 0 {
		return p, nil
	}
	if len(b) < headerSize || b[0] != packMagic {
		return p, fmt.Errorf("analysis: view: no header in %d bytes: %w", len(b), ErrCorrupt)
	}
	rest := b[headerSize:]
	for f := range p.fields {
		n := uint64(binary.LittleEndian.Uint32(b[1+4*f:]))
		if 6*n > uint64(len(rest)) {
			return Packed{}, fmt.Errorf("analysis: view: %d terms in %d bytes: %w", n, len(rest), ErrCorrupt)
		}
		p.fields[f] = Terms{ids: rest[:4*n], positions: rest[4*n : 6*n]}
		rest = rest[6*n:]
	}
	if len(rest) != 0 {
		return Packed{}, fmt.Errorf("analysis: view: %d bytes too many: %w", len(rest), ErrCorrupt)
	}
	return p, nil
}

// Field returns the terms of a field.
func (p Packed) Field(f Field) Terms { return p.fields[f] }

// Len returns the number of terms.
func (t Terms) Len() int { return len(t.ids) / 4 }

// ID returns the i-th term's id.
func (t Terms) ID(i int) TermID { return TermID(binary.LittleEndian.Uint32(t.ids[4*i:])) }

// Position returns the i-th term's position; several terms can share one.
func (t Terms) Position(i int) int { return int(binary.LittleEndian.Uint16(t.positions[2*i:])) }
