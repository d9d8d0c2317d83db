package embedded

import (
	"bytes"
	"context"

	"almanac/retrieval/passage"
	"almanac/retrieval/vector"
)

// ExactRows and BlockRows are where the engine changes its way of working.
const (
	ExactRows = exactRows
	BlockRows = blockRows
)

// Rows returns how many rows the index has, and how many of them are dead.
func (x *Index) Rows() (rows, dead int) {
	v := x.view.Load()
	return v.rows, v.dead
}

// At returns the checkpoint, 0 for a closed index.
func (x *Index) At() int64 {
	n, _ := x.Checkpoint(context.Background())
	return n
}

// SearchExactly scans all vectors: the truth for recall, and what codes are
// compared with in benchmarks.
func (x *Index) SearchExactly(q []float32, k int) []vector.Hit {
	v := x.view.Load()
	best := top{}
	best.reset(v, k)
	_ = v.scanExactly(context.Background(), q, v.visible, &best)
	return best.hits()
}

// ScanInt8 is a scan of all vectors by their int8 components.
func (x *Index) ScanInt8(q []float32, k int) {
	v, s := x.view.Load(), new(scratch)
	for row := range v.rows {
		s.candidates.items = append(s.candidates.items, candidate{row: uint32(row)})
	}
	v.rankByInt8(q, k, s)
}

// DecodeSnapshot reads a snapshot and looks at everything in it.
func DecodeSnapshot(raw []byte, c Config) (rows int, err error) {
	v, err := decodeSnapshot(bytes.NewReader(raw), int64(len(raw)), c)
	if err != nil {
		return 0, err
	}
	x := &Index{config: c}
	x.scratch.New = func() any { return new(scratch) }
	x.view.Store(v)
	q := make([]float32, c.Dimensions)
	q[0] = 1
	_, err = x.Search(context.Background(), q, passage.Filter{Kinds: []string{"doc"}}, 10)
	return v.rows, err
}

// Checksummed gives bytes the frame of a header, checksum included, so that
// fuzzing gets past it.
func Checksummed(head []byte) []byte {
	var buf bytes.Buffer
	w := &sectionWriter{w: &buf}
	w.bytes([]byte(snapshotMagic))
	w.sum = 0
	w.bytes([]byte{byte(len(head)), byte(len(head) >> 8), byte(len(head) >> 16), 0})
	w.bytes(head)
	w.end()
	return buf.Bytes()
}
