// Package vector is the interface of vector engines: nearest passages by
// cosine. The suite every engine passes is in vector/enginetest, the embedded
// engine in vector/embedded. It imports passage.
package vector

import (
	"context"

	"almanac/retrieval/passage"
)

// Index holds one unit vector per passage. Search and Scores are safe for
// concurrent use and see a whole batch or none of it; Apply is called from
// one goroutine.
type Index interface {
	// Apply replaces the vectors of records, removes records and moves the
	// checkpoint. Applying a batch twice is the same as once.
	Apply(ctx context.Context, b Batch) error
	// Search returns the k passages of the greatest cosine, best first; equal
	// scores order by id. Zero vectors are never found.
	Search(ctx context.Context, v []float32, f passage.Filter, k int) ([]Hit, error)
	// Scores returns the exact cosine of each passage, in the order of ids; 0
	// for one that has no vector.
	Scores(ctx context.Context, v []float32, ids []passage.ID) ([]float32, error)
	// Checkpoint is the change-log sequence of the last batch; 0 for an empty index.
	Checkpoint() int64
	// Flush makes the index durable with its checkpoint.
	Flush(ctx context.Context) error
	Close() error
}

// Batch is one step of the index follower.
type Batch struct {
	Records    []Record
	Delete     []int64 // record ids
	Checkpoint int64
}

// Record is a record with the vectors of all its passages, by ordinal.
type Record struct {
	ID         int64
	Attributes passage.Attributes
	Vectors    [][]float32
}

// Hit is a found passage.
type Hit struct {
	Passage passage.ID
	Score   float32 // cosine
}
