// Package vector is the interface of vector engines: nearest passages by
// cosine, and by weighted terms if an engine has sparse vectors. The suite
// every engine passes is in testing/vectortest, the embedded engine in
// vector/embedded.
package vector

import (
	"context"
	"errors"

	"almanac/retrieval/analysis"
	"almanac/retrieval/passage"
)

// ErrUnavailable is wrapped by the errors of an engine that cannot be reached
// or refuses to answer for now; the same call may succeed later.
var ErrUnavailable = errors.New("vector engine is unavailable")

// ErrLost is wrapped by Apply's error when the engine holds less than the batch
// continues from: it was replaced or restored, or is new. Nothing was applied;
// Checkpoint says where to continue.
var ErrLost = errors.New("vector engine has lost changes")

// Index holds one unit vector per passage. Search and Scores are safe for
// concurrent use and see a whole batch or none of it, unless the engine is a
// server, which may show a batch record by record; Apply is called from one
// goroutine.
type Index interface {
	// Apply replaces the vectors of records, removes records and moves the
	// checkpoint. Applying a batch twice is the same as once. Vectors that are
	// not of length 1 are scaled to it; one of the wrong dimension or with a
	// component that is not finite refuses the whole batch.
	Apply(ctx context.Context, b Batch) error
	// Search returns the k passages of the greatest cosine, best first; equal
	// scores order by id. Zero vectors are never found. A hit's score is what
	// Scores returns for the passage, to the bit, unless a batch has come between.
	Search(ctx context.Context, v []float32, f passage.Filter, k int) ([]Hit, error)
	// Scores returns the cosine of each passage, exact to 1e-4, in the order of
	// ids; 0 for one that has no vector.
	Scores(ctx context.Context, v []float32, ids []passage.ID) ([]float32, error)
	// Checkpoint is the change-log sequence of the last batch; 0 for an empty index.
	Checkpoint(ctx context.Context) (int64, error)
	// Flush makes the index durable with its checkpoint.
	Flush(ctx context.Context) error
	Close() error
}

// Sparse is an Index that also finds passages by their terms.
type Sparse interface {
	Index
	// SearchTerms returns the k passages of the greatest sum of term weights
	// (BM25 saturation × IDF), best first; equal scores order by id. Passages
	// that hold none of the terms are never found.
	SearchTerms(ctx context.Context, terms []Term, f passage.Filter, k int) ([]Hit, error)
}

// Term is a term of a query.
type Term struct {
	ID     analysis.TermID
	Weight float64 // greater than 0; 1 for a term as it was typed
}

// Batch is one step of the index follower.
type Batch struct {
	Records    []Record
	Delete     []int64 // record ids
	After      int64   // sequence up to which every change was applied before
	Checkpoint int64   // sequence up to which every change is applied after
}

// Record is a record with the vectors of all its passages, by ordinal.
type Record struct {
	ID         int64
	Attributes passage.Attributes
	Vectors    [][]float32
	// Terms are the analysed terms of the passages, by ordinal, for engines that
	// are Sparse; nil if unknown.
	Terms []analysis.Packed
}

// Hit is a found passage.
type Hit struct {
	Passage passage.ID
	Score   float32 // cosine, or sum of term weights
}
