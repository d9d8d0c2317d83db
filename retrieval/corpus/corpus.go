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

// Documents returns the documents of records, nil for one that is not
// indexed.
func (c *Corpus) Documents(records []int64) []*Document {
	raws, out := make([]string, len(records)), make([]*Document, len(records))
	for i, r := range records {
		raws[i], _ = c.documents.get(r)
		fetch(raws[i], 0)
	}
	views := make([]Document, len(records))
	for i, r := range records {
		if raws[i] != "" {
			views[i] = Document{Record: r, raw: raws[i]}
			views[i].parse()
			out[i] = &views[i]
		}
	}
	return out
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
