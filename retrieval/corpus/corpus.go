package corpus

import (
	"context"
	"iter"
	"time"

	"almanac/retrieval/corpus/prefetch"
)

// Corpus is one state of the indexed documents with their statistics and words.
// It is immutable: a search uses one from start to end, while a Writer makes the
// next ones. Only documents that are not in memory may be newer than it.
type Corpus struct {
	now       func() time.Time
	documents tree   // empty if they are not in memory
	store     *Store // where they are then; nil: they are
	sums      sums
	counts    layers
	days      days
	words     words
}

// New returns a corpus of documents in memory, without words.
func New(documents ...*Document) *Corpus {
	w := NewWriter(time.Now, nil)
	c, _ := w.Change(context.Background(), documents, nil, nil) // fails only where documents are not in memory
	w.Apply(c)
	return w.Corpus()
}

// InMemory reports whether all documents are in memory: reading them costs next to
// nothing, and cannot fail.
func (c *Corpus) InMemory() bool { return c.store == nil }

// Document returns an indexed record; nil: it is not indexed.
func (c *Corpus) Document(ctx context.Context, record int64) (*Document, error) {
	raw, _ := c.documents.get(record)
	if c.store != nil {
		found, err := c.store.documents(ctx, []int64{record})
		if err != nil {
			return nil, err
		}
		raw = found[record]
	}
	if raw == "" {
		return nil, nil
	}
	return view(record, raw), nil
}

// AppendDocuments appends the documents of records to a list, in their order and
// without those that are not indexed. It reads them all at once.
func (c *Corpus) AppendDocuments(ctx context.Context, list []Document, records []int64) ([]Document, error) {
	n := len(list)
	if c.store != nil {
		found, err := c.store.documents(ctx, records)
		if err != nil {
			return list, err
		}
		for _, r := range records {
			if raw := found[r]; raw != "" {
				list = append(list, Document{Record: r, raw: raw})
			}
		}
	} else {
		for _, r := range records {
			if raw, ok := c.documents.get(r); ok {
				prefetch.Line(raw, 0)
				list = append(list, Document{Record: r, raw: raw})
			}
		}
	}
	for i := range list[n:] {
		list[n+i].parse()
	}
	return list, nil
}

// All returns the documents in memory by record.
func (c *Corpus) All() iter.Seq[*Document] {
	return func(yield func(*Document) bool) {
		c.documents.root.all(c.documents.levels-1, 0, func(record int64, raw string) bool {
			return yield(view(record, raw))
		})
	}
}

// Size returns the numbers of indexed records and passages.
func (c *Corpus) Size() (records, passages int) { return int(c.sums.documents), int(c.sums.passages) }

// With returns the corpus after a change, but for its words.
func (c *Corpus) With(change Change) *Corpus {
	next := *c
	next.documents = change.documents
	if change.Whole {
		next.sums, next.counts, next.days = sums{}, nil, nil
	}
	next.sums.add(change.sums)
	next.counts, next.days = next.counts.plus(change.terms), next.days.plus(change.days)
	return &next
}

// Whole returns the change that makes these statistics of an empty corpus.
func (c *Corpus) Whole() Change {
	return Change{Whole: true, sums: c.sums, days: c.days, terms: c.counts.sum()}
}
