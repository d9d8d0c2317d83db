package embedded

import (
	"context"
	"encoding/json"
	"testing"

	"almanac/retrieval/snapshot"
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

// SearchExactly ranks all vectors: the truth for recall, and what codes are
// compared with in benchmarks.
func (x *Index) SearchExactly(q []float32, k int) []vector.Hit {
	v, s := x.view.Load(), new(scratch)
	s.best.Reset(k, v.compare)
	_ = v.scanRows(context.Background(), rowOf(q), v.visible, s) // only a context fails it
	return v.hits(s)
}

// WriteSnapshot writes a snapshot with the given state, five bytes for each
// entry, and a block of so many rows.
func WriteSnapshot(t *testing.T, c Config, state json.RawMessage, entries []byte, rows int) {
	t.Helper()
	s, err := snapshot.NewStore(c.Path, c.format())
	if err != nil {
		t.Fatal(err)
	}
	coder, v := newCoder(c.Dimensions), &view{}
	block, err := s.Create("rows", func(w *snapshot.Writer) {
		values := make([]int16, rows*coder.stride)
		for i := range values {
			values[i] = int16(i % 99)
		}
		snapshot.Write(w, values)
		snapshot.Write(w, make([]uint64, coder.codesOf(rows)))
	})
	if err != nil {
		t.Fatal(err)
	}
	for ; len(entries) >= 5; entries = entries[5:] {
		v.entries = append(v.entries, entry{id: int64(int8(entries[0])), first: uint32(int8(entries[1])),
			n: uint32(entries[2]), attributes: uint32(entries[3]), date: int64(entries[4])})
	}
	records, err := s.Create("records", v.writeEntries)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Commit([]snapshot.File{block, records}, state); err != nil {
		t.Fatal(err)
	}
}
