// Package keywordtest is the suite that every keyword engine passes. It
// imports keyword, analysis and passage.
//
// It checks what searchers rely on: which records are found, in which order if
// any sensible ranking agrees, and how batches, checkpoints and filters behave.
// Exact scores are left to an engine's own tests.
package keywordtest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"almanac/retrieval/analysis"
	"almanac/retrieval/keyword"
	"almanac/retrieval/passage"
)

// Options say how to create engines and how they are known to differ.
type Options struct {
	// New returns an empty engine; the suite closes it.
	New func(t *testing.T) keyword.Engine
	// Reopen closes an engine and opens what it made durable; nil if the engine is not durable.
	Reopen func(t *testing.T, e keyword.Engine) keyword.Engine

	// OwnRanking: the order of hits is not by rarity and frequency of terms.
	OwnRanking bool
	// SplitBatches: a search during Apply can see a part of the batch.
	SplitBatches bool
}

// Run runs the suite.
func Run(t *testing.T, o Options) {
	t.Run("library", func(t *testing.T) {
		s := o.start(t)
		s.apply(t, keyword.Batch{Records: library(), Checkpoint: 7})
		for _, u := range s.views() {
			t.Run([...]string{keyword.Passages: "passages", keyword.Documents: "documents"}[u.unit], func(t *testing.T) {
				t.Run("matching", u.testMatching)
				t.Run("ranking", u.testRanking)
				t.Run("phrases", u.testPhrases)
				t.Run("filters", u.testFilters)
				t.Run("limits", u.testLimits)
				t.Run("cancelled", u.testCancelled)
			})
		}
	})
	t.Run("empty", func(t *testing.T) { testEmpty(t, o.start(t)) })
	t.Run("replacing", func(t *testing.T) { testReplacing(t, o.start(t)) })
	t.Run("deleting", func(t *testing.T) { testDeleting(t, o.start(t)) })
	t.Run("twice", func(t *testing.T) { testTwice(t, o.start(t)) })
	t.Run("ties", func(t *testing.T) { testTies(t, o.start(t)) })
	t.Run("whole batches", func(t *testing.T) { testWholeBatches(t, o.start(t)) })
	t.Run("reopening", func(t *testing.T) { testReopening(t, o) })
}

// suite is an engine under test.
type suite struct {
	Options
	engine  keyword.Engine
	records map[int64]keyword.Record // that it should have
}

func (o Options) on(e keyword.Engine) *suite { return &suite{o, e, map[int64]keyword.Record{}} }

func (o Options) start(t *testing.T) *suite {
	t.Helper()
	s := o.on(o.New(t))
	t.Cleanup(func() {
		if err := s.engine.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return s
}

func (s *suite) apply(t *testing.T, b keyword.Batch) {
	t.Helper()
	if err := s.engine.Apply(t.Context(), b); err != nil {
		t.Fatalf("apply: %v", err)
	}
	for _, r := range b.Records {
		s.records[r.ID] = r
	}
	for _, id := range b.Delete {
		delete(s.records, id)
	}
}

// views returns the engine as each of its units.
func (s *suite) views() []view { return []view{{s, keyword.Passages}, {s, keyword.Documents}} }

// view is an engine under test as one unit.
type view struct {
	*suite
	unit keyword.Unit
}

// search returns the records found, best first, each once.
func (v view) search(t *testing.T, q keyword.Query, f passage.Filter) []int64 {
	t.Helper()
	var records []int64
	for _, h := range v.hits(t, q, f, 300) {
		if !slices.Contains(records, h.Record) {
			records = append(records, h.Record)
		}
	}
	return records
}

// hits searches and checks what holds for every result.
func (v view) hits(t *testing.T, q keyword.Query, f passage.Filter, k int) []keyword.Hit {
	t.Helper()
	q = v.asked(q)
	name := fmt.Sprint(q.Terms, q.Phrases)
	hits, err := v.engine.Search(t.Context(), q, f, k)
	if err != nil {
		t.Fatalf("search %s: %v", name, err)
	}
	if len(hits) > max(k, 0) {
		t.Fatalf("search %s: %d hits, asked for %d", name, len(hits), k)
	}
	for i, h := range hits {
		if v.unit == keyword.Passages && h.Passage.Record() != h.Record ||
			v.unit == keyword.Documents && h.Passage != 0 {
			t.Fatalf("search %s: hit %+v of unit %d", name, h, v.unit)
		}
		if i == 0 {
			continue
		}
		if before := hits[i-1]; before.Score < h.Score || before.Score == h.Score &&
			(before.Record > h.Record || before.Record == h.Record && before.Passage >= h.Passage) {
			t.Fatalf("search %s: hits out of order: %+v before %+v", name, before, h)
		}
	}
	return hits
}

// finds checks which records are found, in any order.
func (v view) finds(t *testing.T, q keyword.Query, f passage.Filter, want ...int64) {
	t.Helper()
	got := v.search(t, q, f)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("search %v phrases %v filter %+v: found %v, want %v", q.Terms, q.Phrases, f, got, want)
	}
}

// words analyses a text.
func words(text string) keyword.Text {
	return keyword.Text{Raw: text, Tokens: analysis.Analyze(text)}
}

// terms returns the terms of a text, one for each position: the suite's texts have no identifiers.
func terms(text string) []keyword.Term {
	var out []keyword.Term
	position := -1
	for _, t := range analysis.Analyze(text) {
		if t.Position != position {
			out = append(out, keyword.Term{Text: t.Term, Weight: 1})
		}
		position = t.Position
	}
	return out
}

// typed returns a query of plain words.
func typed(text string) keyword.Query { return keyword.Query{Terms: terms(text)} }

// quoted returns a query of one phrase.
func quoted(text string) keyword.Query {
	return keyword.Query{Terms: terms(text), Phrases: [][]keyword.Term{terms(text)}}
}

// asked returns the query as a searcher sends it to an engine.
func (v view) asked(q keyword.Query) keyword.Query {
	q.Unit = v.unit
	if len(q.Phrases) > 0 {
		q.Accept = func(record int64) bool { return hasPhrases(v.records[record], q.Phrases) }
	}
	return q
}

// hasPhrases reports whether a record has each phrase in one of its fields.
func hasPhrases(r keyword.Record, phrases [][]keyword.Term) bool {
	fields := [][]analysis.Token{r.Title.Tokens, r.Path.Tokens}
	for _, p := range r.Passages {
		fields = append(fields, p.Heading.Tokens, p.Body.Tokens)
	}
	for _, phrase := range phrases {
		if !slices.ContainsFunc(fields, func(f []analysis.Token) bool { return hasPhrase(f, phrase) }) {
			return false
		}
	}
	return true
}

// hasPhrase looks for the terms one after the other: the suite's texts have no identifiers.
func hasPhrase(field []analysis.Token, phrase []keyword.Term) bool {
	for at := range field {
		n := 0
		for n < len(phrase) && at+n < len(field) && field[at+n].Term == phrase[n].Text {
			n++
		}
		if n == len(phrase) {
			return true
		}
	}
	return false
}

func (v view) testCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	q := v.asked(typed("ledger"))
	if hits, err := v.engine.Search(ctx, q, passage.Filter{}, 10); !errors.Is(err, context.Canceled) {
		t.Errorf("search with a cancelled context: %d hits, error %v", len(hits), err)
	}
	b := keyword.Batch{Delete: []int64{rare}, Checkpoint: 99}
	if err := v.engine.Apply(ctx, b); !errors.Is(err, context.Canceled) {
		t.Errorf("apply with a cancelled context: %v", err)
	}
	v.finds(t, typed("quartz"), none, rare)
}
