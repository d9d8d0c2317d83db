package catalog

import "time"

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
