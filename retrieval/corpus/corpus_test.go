package corpus

import (
	"context"
	"maps"
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"almanac/retrieval/analysis"
)

// apply applies one change.
func apply(t interface {
	Helper()
	Fatal(...any)
}, w *Writer, put []*Document, remove []int64, words []string) {
	t.Helper()
	c, err := w.Change(context.Background(), put, remove, words)
	if err != nil {
		t.Fatal(err)
	}
	w.Apply(c)
}

// state is a corpus with what it should hold.
type state struct {
	corpus *Corpus
	held   map[int64]source
}

// check compares a corpus with what is counted plainly.
func (s state) check(t *rapid.T, now time.Time) {
	var terms []analysis.TermID
	want, passages := map[analysis.TermID]counts{}, 0
	var lengths, passageLengths [analysis.NumFields]float64
	var newest time.Time
	for id, x := range s.held {
		d, err := s.corpus.Document(t.Context(), id)
		if err != nil || d == nil || d.Title != x.record.Title || d.Len() != len(x.passages) {
			t.Fatalf("document %d is %+v, %v", id, d, err)
		}
		passages += len(x.passages)
		for term, tally := range x.tally() {
			c := counts{1, int32(tally.passages), 0}
			if tally.fields[analysis.Title]+tally.fields[analysis.Path] > 0 {
				c.titles = 1
			}
			want[term] = want[term].plus(c)
		}
		for o, p := range x.passages {
			for f := range analysis.Field(analysis.NumFields) {
				n := float64(p.Field(f).Len())
				passageLengths[f] += n
				if o == 0 || f == analysis.Heading || f == analysis.Body {
					lengths[f] += n
				}
			}
		}
		if date := x.record.CreatedAt; dayOf(date) <= dayOf(now) && date.After(newest) {
			newest = date
		}
	}
	if s.corpus.InMemory() {
		var all []int64
		for d := range s.corpus.All() {
			all = append(all, d.Record)
		}
		if ids := slices.Sorted(maps.Keys(s.held)); !slices.Equal(all, ids) {
			t.Fatalf("all documents are %v, want %v", all, ids)
		}
		for range s.corpus.All() { // of which one is enough
			break
		}
	}
	terms = append(slices.Collect(maps.Keys(want)), 1, 1<<31)
	got := s.corpus.Statistics(terms)
	if got.Documents != len(s.held) || got.Passages != passages {
		t.Fatalf("%d documents, %d passages; want %d, %d", got.Documents, got.Passages, len(s.held), passages)
	}
	for _, term := range terms {
		if got.terms[term] != want[term] {
			t.Fatalf("term %d: %+v, want %+v", term, got.terms[term], want[term])
		}
	}
	for f := range analysis.NumFields {
		if got.AverageLength[f] != lengths[f]/math.Max(1, float64(len(s.held))) ||
			got.PassageLength[f] != passageLengths[f]/math.Max(1, float64(passages)) {
			t.Fatalf("lengths %v and %v, want sums %v and %v", got.AverageLength, got.PassageLength, lengths,
				passageLengths)
		}
	}
	if age := got.Newest.Sub(newest); newest.IsZero() != got.Newest.IsZero() || age < 0 || !newest.IsZero() &&
		age > day {
		t.Fatalf("newest %v, want the end of the day of %v", got.Newest, newest)
	}
}

// TestEveryStateHasTheStatisticsOfItsDocuments applies batches and then looks at
// all states that were published, old ones too.
func TestEveryStateHasTheStatisticsOfItsDocuments(t *testing.T) {
	ids := rapid.OneOf(rapid.Int64Range(1, 30), rapid.Int64Range(0, 1<<40))
	all := sources(ids)
	rapid.Check(t, func(t *rapid.T) {
		w, now := NewWriter(time.Now, nil), time.Now()
		held := map[int64]source{}
		states := []state{{w.Corpus(), maps.Clone(held)}}
		for range rapid.IntRange(1, 12).Draw(t, "batches") {
			remove := rapid.SliceOfN(rapid.OneOf(ids, rapid.SampledFrom(append(slices.Sorted(maps.Keys(held)), 1))), 0,
				6).
				Draw(t, "remove")
			var put []*Document
			for _, id := range remove {
				delete(held, id)
			}
			for _, s := range rapid.SliceOfN(all, 0, 5).Draw(t, "put") {
				put = append(put, NewDocument(s.record, s.passages))
				held[s.record.ID] = s
			}
			apply(t, w, put, remove, nil)
			states = append(states, state{w.Corpus(), maps.Clone(held)})
		}
		for _, s := range states {
			s.check(t, now)
		}
	})
}
