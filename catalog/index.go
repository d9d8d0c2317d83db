package catalog

import (
	"context"
	"time"
)

// IndexStore keeps what the index follower derives from records: the change log
// it reads, and by index generation the passages table. Both are in the same
// database, so that they agree after a crash.
type IndexStore interface {
	// Changes returns up to limit changes after seq, oldest first. A record
	// that changed several times appears once, at its last change.
	Changes(ctx context.Context, after int64, limit int) ([]Change, error)
	// LastChange returns the newest sequence number, 0 if the log is empty.
	LastChange(ctx context.Context) (int64, error)
	// CountChanges returns how many changes are after seq.
	CountChanges(ctx context.Context, after int64) (int, error)

	// OpenGeneration returns the generation of the fingerprint (analyzer,
	// passage rules, embedding model), creating it if it does not exist.
	OpenGeneration(ctx context.Context, fingerprint string) (Generation, error)
	// Generations returns all generations, oldest first.
	Generations(ctx context.Context) ([]Generation, error)
	// RetireGeneration gives a generation's fingerprint away, so that OpenGeneration
	// makes another one, while this stays as it is. Retiring twice does nothing.
	// ErrNotFound.
	RetireGeneration(ctx context.Context, id int64) error
	// RestoreGeneration takes RetireGeneration back. ErrConflict if another generation
	// has the fingerprint now.
	RestoreGeneration(ctx context.Context, id int64) error
	// DropGeneration removes a generation with all that is stored of it.
	DropGeneration(ctx context.Context, id int64) error
	// PutPassages stores a batch and moves the generation's checkpoint, in one
	// transaction. A record given without passages loses them and its document.
	PutPassages(ctx context.Context, generation int64, b IndexBatch) error
	// AddWords adds to a generation's vocabulary. It may run ahead of the
	// passages: an unused word does no harm.
	AddWords(ctx context.Context, generation int64, words []string) error
	// DropWords removes words from a generation's vocabulary.
	DropWords(ctx context.Context, generation int64, words []string) error
	// Words returns a generation's vocabulary, in no particular order.
	Words(ctx context.Context, generation int64) ([]string, error)
	// Passages returns the passages with these ids, in no particular order.
	Passages(ctx context.Context, generation int64, ids []int64) ([]Passage, error)
	// ScanDocuments calls fn for every document in the order of records until it
	// fails. fn must not keep data.
	ScanDocuments(ctx context.Context, generation int64, fn func(record int64, data []byte) error) error
	// Documents calls fn for the documents of records that have one, in no particular
	// order, until it fails. fn must not keep data.
	Documents(ctx context.Context, generation int64, records []int64, fn func(record int64, data []byte) error) error
	// ScanStatistics calls fn for all statistics up to a position after the given one, in
	// their order, until it fails. fn must not keep their data.
	ScanStatistics(ctx context.Context, generation, after int64, fn func(Statistics) error) error
}

// Change is an entry of the change log, written in the transaction that
// changed the record.
type Change struct {
	Seq    int64
	Record int64
	Delete bool
	At     time.Time
}

// Generation is one build of the index.
type Generation struct {
	ID          int64
	Fingerprint string
	Checkpoint  int64 // change-log sequence up to which passages are complete
	CreatedAt   time.Time
}

// IndexBatch is what a part of the change log is in the index.
type IndexBatch struct {
	Records    []RecordPassages
	Checkpoint int64 // of the generation from then on
	// Statistics is what the batch changes of them; nil: they are not kept. A batch that
	// was stored before adds nothing.
	Statistics []byte
	// Whole: they are those of all batches, and take the place of what is stored.
	Whole bool
}

// Statistics are what counts in an index from one position in the change log to another,
// as package retrieval/corpus encodes it.
type Statistics struct {
	Since, Until int64
	Data         []byte
}

// RecordPassages are all passages of one record, and its document: what the
// reranker reads of it, as package retrieval/corpus encodes it.
type RecordPassages struct {
	Record   int64
	Passages []Passage
	Document string
}

// Passage is a stored passage. Its id is derived from record and ordinal by
// package passage, so that all engines share it.
type Passage struct {
	ID      int64
	Record  int64
	Ordinal int
	Anchor  string // of the heading in the source's page, without #
	Section string // what to read around it, as package passage names it; "" for the whole record
	Heading string // path of the headings that all of it is under, outermost first, joined by " › "
	Text    string
	// Places are the headings in it, in their order, if it has several. Anchor is that of
	// the innermost at its beginning.
	Places []Place
}

// Place is where a heading in a passage leads to.
type Place struct {
	At      int    `json:"at,omitempty"` // byte of the text from which it heads it
	Anchor  string `json:"anchor,omitempty"`
	Section string `json:"section,omitempty"`
	Heading string `json:"heading,omitempty"` // path, with itself
}
