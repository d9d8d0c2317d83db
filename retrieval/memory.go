package retrieval

import (
	"slices"

	"almanac/retrieval/corpus"
	"almanac/retrieval/fusion"
	"almanac/retrieval/passage"
	"almanac/retrieval/rerank"
)

// memory is what a search writes on its way and nobody reads after it, some 300 kB
// that the next search uses again. Nothing of it goes to an engine, which may read
// on after a search has given up.
type memory struct {
	fusion     fusion.Fusion
	fused      []int64 // records
	documents  []corpus.Document
	candidates []candidate
	order      []*candidate
	passages   []int // of candidates
	of         map[int64]*candidate
	known      map[passage.ID]float32
	in         []rerank.Candidate
	asked      []passage.ID
	cosines    []float32
	scored     []rerank.Scored
	normalised []rerank.Vector
}

func newMemory() *memory {
	return &memory{of: make(map[int64]*candidate), known: make(map[passage.ID]float32)}
}

// release drops what a search found, which the pool must not keep alive.
func (m *memory) release() {
	clear(m.documents)
	clear(m.candidates)
	clear(m.in)
	clear(m.of)
	clear(m.known)
}

// sized returns a slice of n values, whatever they are, in the memory of another.
func sized[S ~[]E, E any](s S, n int) S { return slices.Grow(s[:0], n)[:n] }
