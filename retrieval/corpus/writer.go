package corpus

import (
	"context"
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

// NewWriter returns a writer of an empty corpus. now is the clock that says which dates
// are yet to come; store has the documents, nil: they are in memory.
func NewWriter(now func() time.Time, store *Store) *Writer {
	w := &Writer{known: map[string]struct{}{}}
	w.current.Store(&Corpus{now: now, store: store})
	return w
}

// Corpus returns the corpus of all changes so far.
func (w *Writer) Corpus() *Corpus { return w.current.Load() }

// Change returns what it changes to replace and remove documents and to add words. It is
// to be applied before the next one is made. Its costs go with what changes, not with
// the size of the corpus.
func (w *Writer) Change(ctx context.Context, put []*Document, remove []int64, words []string) (Change, error) {
	now := w.Corpus()
	next, e := now.documents, &edit{}
	set := func(record int64, raw string) (before string) { return next.set(e, record, raw) }
	if now.store != nil {
		records := slices.Clone(remove)
		for _, d := range put {
			records = append(records, d.Record)
		}
		held, err := now.store.documents(ctx, records)
		if err != nil {
			return Change{}, err
		}
		set = func(record int64, raw string) (before string) {
			before, held[record] = held[record], raw
			return before
		}
	}
	var added, removed []*Document
	for _, r := range remove {
		if before := set(r, ""); before != "" {
			removed = append(removed, view(r, before))
		}
	}
	for _, d := range put {
		before := set(d.Record, d.raw)
		if before == d.raw {
			continue
		}
		added = append(added, d)
		if before != "" {
			removed = append(removed, view(d.Record, before))
		}
	}
	c := changeOf(added, removed)
	c.Words, c.documents = words, next
	return c, nil
}

// Apply publishes the corpus after changes, with exactly the statistics of its
// documents.
func (w *Writer) Apply(changes ...Change) {
	next := w.current.Load()
	for _, c := range changes {
		next.store.forget(c)
		next = next.With(c)
		next.words = w.add(next.words, c.Words)
	}
	w.current.Store(next)
}

// AddWords publishes the corpus with more words.
func (w *Writer) AddWords(words []string) {
	next := *w.current.Load()
	next.words = w.add(next.words, words)
	w.current.Store(&next)
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
