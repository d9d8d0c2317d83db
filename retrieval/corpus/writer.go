package corpus

import (
	"iter"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"almanac/retrieval/analysis"
)

// Writer makes one corpus after another. Corpus may be called from any
// goroutine, the rest from one: readers never wait for it, and what they hold
// does not change.
type Writer struct {
	current atomic.Pointer[Corpus]
	known   map[string]struct{} // words
}

// NewWriter returns a writer of an empty corpus; now is the clock that says which
// dates are yet to come.
func NewWriter(now func() time.Time) *Writer {
	w := &Writer{known: map[string]struct{}{}}
	w.current.Store(&Corpus{now: now})
	return w
}

// Corpus returns the corpus of all changes so far.
func (w *Writer) Corpus() *Corpus { return w.current.Load() }

// Apply replaces and removes documents, adds words, and publishes the corpus
// with exactly the statistics of its documents. Its costs go with what changes,
// not with the size of the corpus.
func (w *Writer) Apply(put []*Document, remove []int64, words []string) {
	next := *w.current.Load()
	e := &edit{}
	var added, removed []*Document
	for _, r := range remove {
		if raw, ok := next.documents.get(r); ok {
			next.documents.set(e, r, "")
			removed = append(removed, view(r, raw))
		}
	}
	for _, d := range put {
		before := next.documents.set(e, d.Record, d.raw)
		if before == d.raw {
			continue
		}
		added = append(added, d)
		if before != "" {
			removed = append(removed, view(d.Record, before))
		}
	}
	next.counts, next.days = next.counts.with(added, removed), next.days.with(added, removed)
	next.measure(added, 1)
	next.measure(removed, -1)
	next.words = w.add(next.words, words)
	w.current.Store(&next)
}

// measure adds documents to the sums of the corpus, or takes them away.
func (c *Corpus) measure(documents []*Document, sign int) {
	for _, d := range documents {
		c.passages += sign * d.Len()
		for f := range analysis.Field(analysis.NumFields) {
			n := int64(sign * d.Length(f))
			c.lengths[f] += n
			if f == analysis.Title || f == analysis.Path {
				n *= int64(d.Len()) // every passage has them
			}
			c.passageLengths[f] += n
		}
	}
}

// UnknownWords returns the words of texts that are not in the corpus, each once.
// A text comes with its tokens. The words are as in the texts, not stemmed:
// people misspell words, and stems are in no list of known words. Two words
// joined by a hyphen, which are also one term, are kept as that term.
func (w *Writer) UnknownWords(texts iter.Seq2[string, []analysis.Token]) []string {
	fresh := map[string]struct{}{}
	for text, tokens := range texts {
		for _, t := range tokens {
			if _, ok := w.known[text[t.Start:t.End]]; ok {
				continue // most words are lower case and need no folding
			}
			word := t.Word(text)
			if !isWord(word) {
				word = t.Term
			}
			if _, ok := w.known[word]; !ok && isWord(word) {
				fresh[strings.Clone(word)] = struct{}{}
			}
		}
	}
	return slices.Sorted(maps.Keys(fresh))
}

func (w *Writer) add(all words, more []string) words {
	for _, s := range more {
		if _, ok := w.known[s]; !ok {
			w.known[s] = struct{}{}
			all = all.with(s)
		}
	}
	return all
}
