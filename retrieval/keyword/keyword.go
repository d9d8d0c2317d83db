// Package keyword is the interface of keyword engines: full-text indexes of
// passages and of whole records. The suite every engine passes is in
// testing/keywordtest, the embedded engine in keyword/embedded.
package keyword

import (
	"context"

	"almanac/retrieval/analysis"
	"almanac/retrieval/passage"
)

// Engine is a keyword index. Search is safe for concurrent use and sees a
// whole batch or none of it; Apply is called from one goroutine.
type Engine interface {
	// Apply replaces the passages of records, removes records and moves the
	// checkpoint. Applying a batch twice is the same as once.
	Apply(ctx context.Context, b Batch) error
	// Search returns up to k hits, best first; equal scores order by id.
	Search(ctx context.Context, q Query, f passage.Filter, k int) ([]Hit, error)
	// Checkpoint is the change-log sequence of the last batch; 0 for an empty index.
	Checkpoint(ctx context.Context) (int64, error)
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

// Record is a record with all its passages as the engine indexes them. As a
// document it has the title and path once, and every passage's heading and
// body.
type Record struct {
	ID         int64
	Attributes passage.Attributes
	Title      Text
	Path       Text
	Passages   []Passage
}

// Passage is one passage of a record. Title and path of the record count as
// the passage's own.
type Passage struct {
	ID      passage.ID
	Heading Text
	Body    Text
}

// Text is a text with its analysis.
type Text struct {
	Raw    string
	Tokens []analysis.Token
}

// Unit is what a search returns.
type Unit int

// The units.
const (
	Passages  Unit = iota // hits are passages
	Documents             // hits are records, scored as whole documents
)

// Query is an analysed query.
type Query struct {
	Unit    Unit
	Terms   []Term   // any may match
	Phrases [][]Term // all terms must match; that they do so in order is for the searcher to decide
	// Accept reports whether a record may be a hit, as the searcher decides it.
	// Engines in the process ask it about records that would be among the best k,
	// so that others come in the place of those that may not. nil: all may.
	Accept func(record int64) bool
	// Assisted: another engine finds passages by all of these terms too, so an engine
	// for which that is expensive may do less.
	Assisted bool
}

// Term is a weighted term of a query.
type Term struct {
	Text   string
	Weight float64 // 1 as typed; less for expansions
	Rarity float64 // inverse document frequency in the index; 0 = unknown
}

// Hit is a matched passage or record.
type Hit struct {
	Record  int64
	Passage passage.ID // 0 for Documents
	Score   float64
}
