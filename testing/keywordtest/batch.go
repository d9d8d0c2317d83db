package keywordtest

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"almanac/retrieval/keyword"
	"almanac/retrieval/passage"
)

func (s *suite) checkpoint(t *testing.T, want int64) {
	t.Helper()
	if got, err := s.engine.Checkpoint(t.Context()); err != nil || got != want {
		t.Errorf("checkpoint %d, want %d, error %v", got, want, err)
	}
}

func testEmpty(t *testing.T, s *suite) {
	s.checkpoint(t, 0)
	for _, v := range s.views() {
		v.finds(t, typed("ledger"), none)
		v.finds(t, quoted("ledger node"), none)
	}
	s.apply(t, keyword.Batch{Checkpoint: 5})
	s.checkpoint(t, 5)
	s.apply(t, keyword.Batch{Delete: []int64{1, 2}, Checkpoint: 6})
	s.checkpoint(t, 6)
	if err := s.engine.Flush(t.Context()); err != nil {
		t.Errorf("flush: %v", err)
	}
}

// long returns a record of n passages that all have the word.
func long(id int64, n int, word string) keyword.Record {
	r := record(id, "title", "")
	r.Passages = nil
	for p := range n {
		r.Passages = append(r.Passages, keyword.Passage{ID: passage.NewID(id, p), Body: words(word + " ledger")})
	}
	return r
}

func testReplacing(t *testing.T, s *suite) {
	s.apply(t, keyword.Batch{Records: []keyword.Record{long(1, 5, "amber"), long(2, 1, "harbor")}, Checkpoint: 1})
	changed := long(1, 2, "quartz")
	changed.Attributes.Kind = "changed"
	s.apply(t, keyword.Batch{Records: []keyword.Record{changed}, Checkpoint: 2})
	s.checkpoint(t, 2)
	for _, v := range s.views() {
		v.finds(t, typed("amber"), none)
		v.finds(t, typed("quartz"), none, 1)
		v.finds(t, typed("quartz"), passage.Filter{Kinds: []string{"changed"}}, 1)
		v.finds(t, typed("quartz"), passage.Filter{Kinds: []string{"note"}})
		v.finds(t, typed("harbor"), none, 2)
		want := [...]int{keyword.Passages: 3, keyword.Documents: 2}[v.unit]
		if len(v.hits(t, typed("ledger"), none, 50)) != want {
			t.Errorf("unit %d: %d hits, want %d", v.unit, len(v.hits(t, typed("ledger"), none, 50)), want)
		}
	}
	s.apply(t, keyword.Batch{Records: []keyword.Record{long(1, 0, "")}, Checkpoint: 3})
	view{s, keyword.Passages}.finds(t, typed("quartz title"), none, 2)
	view{s, keyword.Documents}.finds(t, typed("quartz title"), none, 1, 2)
}

func testDeleting(t *testing.T, s *suite) {
	var records []keyword.Record
	for id := int64(1); id <= 20; id++ {
		records = append(records, long(id, 2, fmt.Sprintf("amber word%d", id)))
	}
	records[2].Title = words("pepper")
	s.apply(t, keyword.Batch{Records: records, Checkpoint: 1})
	s.apply(t, keyword.Batch{Delete: []int64{3, 7, 7, 20, 99}, Checkpoint: 2})
	s.apply(t, keyword.Batch{Records: records[6:7], Checkpoint: 3}) // 7 comes back
	s.apply(t, keyword.Batch{Delete: []int64{8}, Checkpoint: 4})
	for _, v := range s.views() {
		v.finds(t, typed("amber"), none, 1, 2, 4, 5, 6, 7, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19)
		v.finds(t, typed("amber"), passage.Filter{Records: []int64{3, 4}}, 4)
		v.finds(t, quoted("amber word3"), none)
	}
}

func testTwice(t *testing.T, s *suite) {
	s.apply(t, keyword.Batch{Records: library(), Checkpoint: 1})
	b := keyword.Batch{Records: []keyword.Record{long(both, 3, "pepper"), long(5000, 1, "pepper")},
		Delete: []int64{rare}, Checkpoint: 2}
	s.apply(t, b)
	queries := []keyword.Query{typed("pepper"), typed("ledger"), typed("amber harbor"), typed("quartz"),
		typed("silver comet node")}
	once := s.answers(t, queries)
	s.apply(t, b)
	s.checkpoint(t, 2)
	s.answer(t, queries, once)
}

// answers returns the hits of queries in each unit.
func (s *suite) answers(t *testing.T, queries []keyword.Query) (all [][]keyword.Hit) {
	t.Helper()
	for _, v := range s.views() {
		for _, q := range queries {
			all = append(all, v.hits(t, q, none, 50))
		}
	}
	return all
}

// answer checks that the hits of queries are still these.
func (s *suite) answer(t *testing.T, queries []keyword.Query, before [][]keyword.Hit) {
	t.Helper()
	for i, after := range s.answers(t, queries) {
		if !slices.Equal(before[i], after) {
			t.Errorf("%v: before\n%+v, after\n%+v", queries[i%len(queries)].Terms, before[i], after)
		}
	}
}

func testTies(t *testing.T, s *suite) {
	// Equal records that arrive in other orders and batches.
	for n, ids := range [][]int64{{5, 3}, {9, 1, 7}, {2}, {8, 4}, {6}} {
		var b keyword.Batch
		for _, id := range ids {
			b.Records = append(b.Records, long(id, 2, "amber"))
		}
		b.Checkpoint = int64(n + 1)
		s.apply(t, b)
	}
	for _, v := range s.views() {
		for _, k := range []int{3, 9, 18} {
			hits := v.hits(t, typed("amber ledger"), none, k)
			for i, h := range hits {
				want := int64(i + 1)
				if v.unit == keyword.Passages {
					want = int64(i/2 + 1)
				}
				if h.Record != want {
					t.Fatalf("unit %d: equal records come as %+v", v.unit, hits)
				}
			}
		}
	}
}

// testWholeBatches searches while batches replace all records but one: at any
// time each of them has the same word.
func testWholeBatches(t *testing.T, s *suite) {
	if s.SplitBatches {
		t.Skip("a search can see a part of a batch")
	}
	const records, batches = 20, 60
	batch := func(n int) keyword.Batch {
		b := keyword.Batch{Checkpoint: int64(n)}
		for id := int64(1); id <= records; id++ {
			b.Records = append(b.Records, long(id, 2, fmt.Sprintf("amber version%d", n)))
		}
		return b
	}
	s.apply(t, keyword.Batch{Records: []keyword.Record{long(records+1, 1, "amber constant")}})
	s.apply(t, batch(0))
	var done atomic.Bool
	var searches atomic.Int64
	var wg sync.WaitGroup
	for _, v := range s.views() {
		wg.Go(func() {
			for !done.Load() || searches.Load() < 20 {
				q := typed("amber")
				for n := range batches + 1 {
					q.Terms = append(q.Terms, keyword.Term{Text: fmt.Sprintf("version%d", n), Weight: 1})
				}
				q.Unit = v.unit
				hits, err := s.engine.Search(t.Context(), q, none, 3*records)
				want := [...]int{keyword.Passages: 2*records + 1, keyword.Documents: records + 1}[v.unit]
				if err != nil || len(hits) != want {
					t.Errorf("unit %d: %d hits, want %d, error %v", v.unit, len(hits), want, err)
					return
				}
				hits = slices.DeleteFunc(hits, func(h keyword.Hit) bool { return h.Record > records })
				if first, last := hits[0].Score, hits[len(hits)-1].Score; first != last {
					t.Errorf("unit %d: scores %v and %v: records of two batches", v.unit, first, last)
					return
				}
				searches.Add(1)
			}
		})
	}
	for n := 1; n <= batches; n++ {
		if err := s.engine.Apply(t.Context(), batch(n)); err != nil {
			t.Errorf("apply: %v", err)
			break
		}
	}
	done.Store(true)
	wg.Wait()
}

func testReopening(t *testing.T, o Options) {
	if o.Reopen == nil {
		t.Skip("the engine is not durable")
	}
	e := o.New(t)
	s := o.on(e)
	s.apply(t, keyword.Batch{Records: library(), Checkpoint: 41})
	s.apply(t, keyword.Batch{Records: []keyword.Record{long(both, 2, "pepper")}, Delete: []int64{rare}, Checkpoint: 42})
	if err := e.Flush(t.Context()); err != nil {
		t.Fatalf("flush: %v", err)
	}
	if err := e.Flush(t.Context()); err != nil {
		t.Fatalf("second flush: %v", err)
	}
	queries := []keyword.Query{typed("ledger node"), typed("amber"), quoted("silver comet"),
		typed("pepper"), typed("Zürich")}
	before := s.answers(t, queries)
	s.engine = o.Reopen(t, e)
	t.Cleanup(func() { s.engine.Close() })
	s.checkpoint(t, 42)
	s.answer(t, queries, before)
	for _, v := range s.views() {
		v.finds(t, typed("quartz"), none)
	}
	s.apply(t, keyword.Batch{Records: []keyword.Record{record(rare, "minerals", "quartz again")}, Checkpoint: 43})
	s.checkpoint(t, 43)
	for _, v := range s.views() {
		v.finds(t, typed("quartz"), none, rare)
		v.finds(t, typed("pepper"), none, both)
	}
}
