package corpus

import (
	"context"
	"maps"
	"math"
	"slices"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"almanac/catalog"
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

// TestReadersSeeABatchWholeOrNotAtAll reads while batches move all records from
// one edition to the next.
func TestReadersSeeABatchWholeOrNotAtAll(t *testing.T) {
	const records, editions = 100, 60
	title := func(edition int) string { return string(rune('a'+edition%26)) + string(rune('a'+edition/26)) + "word" }
	documents := func(edition int) (all []*Document) {
		terms, err := analysis.View(analysis.Pack([analysis.NumFields][]analysis.Token{
			analysis.Title: analysis.Analyze(title(edition))}))
		if err != nil {
			t.Fatal(err)
		}
		for id := range int64(records) {
			all = append(all, NewDocument(catalog.Record{ID: id, Title: title(edition)}, []analysis.Packed{terms}))
		}
		return all
	}
	w := NewWriter(time.Now, nil)
	apply(t, w, documents(0), nil, []string{title(0)})
	var wg sync.WaitGroup
	done := make(chan struct{})
	for range 2 {
		wg.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				c := w.Corpus()
				first, _ := c.Document(t.Context(), 0)
				last, _ := c.Document(t.Context(), records-1)
				term := analysis.IDOf(analysis.Analyze(first.Title)[0].Term)
				if n := c.Statistics([]analysis.TermID{term}).DocumentFrequency(term); n != records ||
					first.Title != last.Title || len(c.Expand(first.Title+"x", 1)) != 1 {
					t.Errorf("%d records hold %q, the last is %q", n, first.Title, last.Title)
					return
				}
			}
		})
	}
	for edition := range editions {
		apply(t, w, documents(edition), nil, []string{title(edition)})
	}
	close(done)
	wg.Wait()
}

func TestTheNewestDayGoesBackAndIsNotInTheFuture(t *testing.T) {
	dated := func(id int64, at time.Time) *Document {
		return NewDocument(catalog.Record{ID: id, CreatedAt: at}, nil)
	}
	old, now := time.Date(2020, 1, 1, 7, 0, 0, 0, time.UTC), time.Now()
	w := NewWriter(time.Now, nil)
	apply(t, w, []*Document{dated(1, old), dated(2, now.Add(-48*time.Hour)), dated(3, now.AddDate(70, 0, 0))}, nil, nil)
	if newest := w.Corpus().Statistics(nil).Newest; newest.After(now.Add(day)) || newest.Before(now.Add(-3*day)) {
		t.Errorf("with a date that is yet to come the newest is %v", newest)
	}
	apply(t, w, nil, []int64{2, 3}, nil)
	if newest := w.Corpus().Statistics(nil).Newest; !newest.Equal(time.Date(2020, 1, 2, 0, 0, 0, 0, time.UTC)) {
		t.Errorf("after the newer ones were removed it is %v", newest)
	}
	apply(t, w, nil, []int64{1}, nil)
	if newest := w.Corpus().Statistics(nil).Newest; !newest.IsZero() {
		t.Errorf("of none it is %v", newest)
	}
}

// BenchmarkApply replaces 128 records of a corpus of so many.
func BenchmarkApply(b *testing.B) {
	for _, size := range []int{1_000, 100_000} {
		b.Run("records="+map[int]string{1_000: "1k", 100_000: "100k"}[size], func(b *testing.B) {
			w := NewWriter(time.Now, nil)
			var batch []*Document
			for id := range int64(size) {
				batch = append(batch, numbered(b, id, 0))
				if len(batch) == 1000 {
					apply(b, w, batch, nil, nil)
					batch = nil
				}
			}
			for edition := 1; b.Loop(); edition++ {
				b.StopTimer()
				batch = batch[:0]
				for i := range int64(128) {
					batch = append(batch, numbered(b, (i*7919)%int64(size), edition))
				}
				b.StartTimer()
				apply(b, w, batch, nil, nil)
			}
		})
	}
}

// numbered returns a document of 300 terms, of which one is of its edition.
func numbered(b *testing.B, id int64, edition int) *Document {
	tokens := make([]analysis.Token, 300)
	for i := range tokens {
		n := (int(id)*31 + i*i) % 50_000
		tokens[i] = analysis.Token{Term: string(rune(0x4e00+n%20_000)) + string(rune('a'+n/20_000)), Position: i}
	}
	tokens[0].Term = string(rune(0x4e00 + edition%20_000))
	terms, err := analysis.View(analysis.Pack([analysis.NumFields][]analysis.Token{analysis.Body: tokens}))
	if err != nil {
		b.Fatal(err)
	}
	return NewDocument(catalog.Record{ID: id}, []analysis.Packed{terms})
}
