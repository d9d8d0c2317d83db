package corpus

import (
	"iter"
	"sync"
	"time"

	"almanac/retrieval/analysis"
)

// Corpus holds the indexed documents and their statistics. It is safe for
// concurrent use; documents are immutable, so that a reader can keep one while
// the corpus changes.
type Corpus struct {
	mu             sync.RWMutex // guards everything below
	documents      map[int64]*Document
	counts         map[analysis.TermID]counts
	passages       int
	lengths        [analysis.NumFields]int64 // summed over documents
	passageLengths [analysis.NumFields]int64 // summed over passages
	newest         time.Time

	vocabulary vocabulary
}

// counts are the numbers of documents and passages that hold a term, and of
// documents that hold it in title or path.
type counts struct{ documents, passages, titles int32 }

// New returns a corpus of documents.
func New(documents ...*Document) *Corpus {
	c := &Corpus{documents: map[int64]*Document{}, counts: map[analysis.TermID]counts{}}
	c.Apply(documents, nil)
	return c
}

// Document returns an indexed record.
func (c *Corpus) Document(record int64) (*Document, bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	d, ok := c.documents[record]
	return d, ok
}

// Documents returns the documents of records, nil for one that is not
// indexed.
func (c *Corpus) Documents(records []int64) []*Document {
	c.mu.RLock()
	defer c.mu.RUnlock()
	out := make([]*Document, len(records))
	for i, r := range records {
		out[i] = c.documents[r]
	}
	return out
}

// UnknownWords returns the words of texts that are not in the vocabulary, each
// once. A text comes with its tokens.
func (c *Corpus) UnknownWords(texts iter.Seq2[string, []analysis.Token]) []string {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.vocabulary.unknown(texts)
}

// AddWords adds words to the vocabulary.
func (c *Corpus) AddWords(words []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.vocabulary.add(words)
}

// Size returns the numbers of indexed records and passages.
func (c *Corpus) Size() (records, passages int) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return len(c.documents), c.passages
}

// Apply replaces and removes documents and updates the statistics exactly.
func (c *Corpus) Apply(put []*Document, remove []int64) {
	type delta struct {
		d    *Document
		sign int32
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	var deltas []delta
	drop := func(record int64) {
		if old := c.documents[record]; old != nil {
			deltas = append(deltas, delta{old, -1})
			delete(c.documents, record)
		}
	}
	for _, r := range remove {
		drop(r)
	}
	for _, d := range put {
		drop(d.Record)
		c.documents[d.Record] = d
		deltas = append(deltas, delta{d, 1})
		if d.Attributes.Date.After(c.newest) {
			c.newest = d.Attributes.Date
		}
	}
	for _, x := range deltas {
		c.count(x.d, x.sign)
	}
}

func (c *Corpus) count(d *Document, sign int32) {
	c.passages += int(sign) * d.Len()
	for f := range analysis.NumFields {
		c.lengths[f] += int64(sign) * int64(d.lengths[f])
	}
	for i, id := range d.terms {
		n := c.counts[id]
		n.documents += sign
		if tf := d.freqs[i]; tf[analysis.Title]+tf[analysis.Path] > 0 {
			n.titles += sign
		}
		c.counts[id] = n
	}
	seen := map[analysis.TermID]struct{}{}
	for o := range d.Len() {
		clear(seen)
		for f := range analysis.Field(analysis.NumFields) {
			terms := d.Terms(o).Field(f)
			n := terms.Len()
			c.passageLengths[f] += int64(sign) * int64(n)
			for j := range n {
				seen[terms.ID(j)] = struct{}{}
			}
		}
		for id := range seen {
			n := c.counts[id]
			n.passages += sign
			if n == (counts{}) {
				delete(c.counts, id)
				continue
			}
			c.counts[id] = n
		}
	}
}
