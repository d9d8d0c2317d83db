package corpus

import (
	"iter"
	"time"

	"almanac/retrieval/analysis"
)

// Corpus is one state of the indexed documents with their statistics and words.
// It is immutable: a search uses one from start to end, while a Writer makes the
// next ones.
type Corpus struct {
	now            func() time.Time
	documents      tree
	counts         layers
	days           days
	passages       int
	lengths        [analysis.NumFields]int64 // summed over documents
	passageLengths [analysis.NumFields]int64 // summed over passages
	words          words
}

// New returns a corpus of documents, without words.
func New(documents ...*Document) *Corpus {
	w := NewWriter(time.Now)
	w.Apply(documents, nil, nil)
	return w.Corpus()
}

// Document returns an indexed record.
func (c *Corpus) Document(record int64) (*Document, bool) {
	raw, ok := c.documents.get(record)
	if !ok {
		return nil, false
	}
	return view(record, raw), true
}

// AppendDocuments appends the documents of records to a list, in their order and
// without those that are not indexed.
func (c *Corpus) AppendDocuments(list []Document, records []int64) []Document {
	n := len(list)
	for _, r := range records {
		if raw, ok := c.documents.get(r); ok {
			fetch(raw, 0)
			list = append(list, Document{Record: r, raw: raw})
		}
	}
	for i := range list[n:] {
		list[n+i].parse()
	}
	return list
}

// All returns the documents by record.
func (c *Corpus) All() iter.Seq[*Document] {
	return func(yield func(*Document) bool) {
		c.documents.root.all(c.documents.levels-1, 0, func(record int64, raw string) bool {
			return yield(view(record, raw))
		})
	}
}

// Size returns the numbers of indexed records and passages.
func (c *Corpus) Size() (records, passages int) { return c.documents.n, c.passages }
