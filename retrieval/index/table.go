package index

import (
	"fmt"
	"math"
	"sync"
	"time"

	"almanac/catalog"
	"almanac/retrieval/analysis"
	"almanac/retrieval/passage"
)

// Table holds the indexed documents and the corpus statistics in memory. It is
// safe for concurrent use; documents are immutable, so that a reader can keep
// one while the table changes.
type Table struct {
	mu        sync.RWMutex // guards everything below
	documents map[int64]*Document
	counts    map[analysis.TermID]counts
	passages  int
	lengths   [analysis.NumFields]int64 // summed over documents
	pLengths  [analysis.NumFields]int64 // summed over passages
	newest    time.Time

	vocabulary vocabulary
}

// counts are the numbers of documents and passages that hold a term, and of
// documents that hold it in title or path.
type counts struct{ documents, passages, titles int32 }

func newTable() *Table {
	return &Table{documents: map[int64]*Document{}, counts: map[analysis.TermID]counts{}}
}

// Indexed is a record with the packed terms of its passages, by ordinal.
type Indexed struct {
	Record catalog.Record
	Terms  [][]byte
}

// NewTable makes a table of records. Terms that cannot be read are an error.
func NewTable(records []Indexed) (*Table, error) {
	t := newTable()
	for _, x := range records {
		var passages []Passage
		for i, b := range x.Terms {
			terms, err := analysis.View(b)
			if err != nil {
				return nil, fmt.Errorf("index: record %d: %w", x.Record.ID, err)
			}
			passages = append(passages, Passage{ID: passage.NewID(x.Record.ID, i), Terms: terms})
		}
		t.apply([]*Document{newDocument(x.Record, passages)}, nil)
	}
	return t, nil
}

// Document returns an indexed record.
func (t *Table) Document(record int64) (*Document, bool) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	d, ok := t.documents[record]
	return d, ok
}

// Documents returns the documents of records, nil for one that is not
// indexed.
func (t *Table) Documents(records []int64) []*Document {
	t.mu.RLock()
	defer t.mu.RUnlock()
	out := make([]*Document, len(records))
	for i, r := range records {
		out[i] = t.documents[r]
	}
	return out
}

// unknownWords returns the words of cut records that are not in the vocabulary.
func (t *Table) unknownWords(cuts []*cut) []string {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.vocabulary.unknown(cuts)
}

func (t *Table) addWords(words []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.vocabulary.add(words)
}

// Size returns the numbers of indexed records and passages.
func (t *Table) Size() (records, passages int) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return len(t.documents), t.passages
}

// Statistics are the corpus statistics for a query.
type Statistics struct {
	Documents     int
	Passages      int
	AverageLength [analysis.NumFields]float64 // of documents, in tokens
	PassageLength [analysis.NumFields]float64 // of passages, in tokens
	Newest        time.Time                   // date of the newest document
	terms         map[analysis.TermID]counts
}

// Statistics returns the corpus statistics with the frequencies of terms.
func (t *Table) Statistics(terms []analysis.TermID) Statistics {
	t.mu.RLock()
	defer t.mu.RUnlock()
	s := Statistics{Documents: len(t.documents), Passages: t.passages, Newest: t.newest,
		terms: make(map[analysis.TermID]counts, len(terms))}
	for f := range analysis.NumFields {
		s.AverageLength[f] = float64(t.lengths[f]) / math.Max(1, float64(s.Documents))
		s.PassageLength[f] = float64(t.pLengths[f]) / math.Max(1, float64(s.Passages))
	}
	for _, id := range terms {
		s.terms[id] = t.counts[id]
	}
	return s
}

// DocumentFrequency is the number of documents that hold the term.
func (s Statistics) DocumentFrequency(t analysis.TermID) int { return int(s.terms[t].documents) }

// IDF is ln(1 + (N − df + 0.5)/(df + 0.5)) over documents.
func (s Statistics) IDF(t analysis.TermID) float64 { return idf(s.Documents, s.terms[t].documents) }

// PassageIDF is the same over passages.
func (s Statistics) PassageIDF(t analysis.TermID) float64 {
	return idf(s.Passages, s.terms[t].passages)
}

// TitleIDF is the same over titles and paths.
func (s Statistics) TitleIDF(t analysis.TermID) float64 { return idf(s.Documents, s.terms[t].titles) }

func idf(n int, df int32) float64 {
	return math.Log(1 + (float64(n)-float64(df)+0.5)/(float64(df)+0.5))
}

// apply replaces and removes documents and updates the statistics exactly.
func (t *Table) apply(put []*Document, remove []int64) {
	type delta struct {
		d    *Document
		sign int32
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	var deltas []delta
	drop := func(record int64) {
		if old := t.documents[record]; old != nil {
			deltas = append(deltas, delta{old, -1})
			delete(t.documents, record)
		}
	}
	for _, r := range remove {
		drop(r)
	}
	for _, d := range put {
		drop(d.Record)
		t.documents[d.Record] = d
		deltas = append(deltas, delta{d, 1})
		if d.Attributes.Date.After(t.newest) {
			t.newest = d.Attributes.Date
		}
	}
	for _, x := range deltas {
		t.count(x.d, x.sign)
	}
}

func (t *Table) count(d *Document, sign int32) {
	t.passages += int(sign) * len(d.Passages)
	for f := range analysis.NumFields {
		t.lengths[f] += int64(sign) * int64(d.Lengths[f])
	}
	for i, id := range d.terms {
		c := t.counts[id]
		c.documents += sign
		if tf := d.freqs[i]; tf[analysis.Title]+tf[analysis.Path] > 0 {
			c.titles += sign
		}
		t.counts[id] = c
	}
	seen := map[analysis.TermID]struct{}{}
	for _, p := range d.Passages {
		clear(seen)
		for f := range analysis.Field(analysis.NumFields) {
			terms := p.Terms.Field(f)
			n := terms.Len()
			t.pLengths[f] += int64(sign) * int64(n)
			for j := range n {
				seen[terms.ID(j)] = struct{}{}
			}
		}
		for id := range seen {
			c := t.counts[id]
			c.passages += sign
			if c == (counts{}) {
				delete(t.counts, id)
				continue
			}
			t.counts[id] = c
		}
	}
}

// With returns the statistics with the terms of other ones added.
func (s Statistics) With(others Statistics) Statistics {
	for t, c := range others.terms {
		s.terms[t] = c
	}
	return s
}
