package vectortest

import (
	"errors"
	"math"
	"slices"
	"sync"
	"testing"
	"time"

	"almanac/retrieval/passage"
	"almanac/retrieval/vector"
)

func testEmpty(t *testing.T, s *suite) {
	x := s.New(t)
	if c := checkpoint(t, x); c != 0 {
		t.Errorf("checkpoint %d, want 0", c)
	}
	if hits := search(t, x, s.unit(), passage.Filter{}, 10); len(hits) != 0 {
		t.Errorf("%d hits", len(hits))
	}
	scores, err := x.Scores(t.Context(), s.unit(), []passage.ID{passage.NewID(1_000_000, 0)})
	if err != nil || !slices.Equal(scores, []float32{0}) {
		t.Errorf("scores %v, error %v, want [0]", scores, err)
	}
}

func testNearest(t *testing.T, s *suite) {
	x, rs := s.filled(t)
	for range 5 {
		q := s.unit()
		compare(t, search(t, x, q, passage.Filter{}, 10), exact(rs, q, all, 10))
	}
	// A stored vector finds itself.
	r := rs[3]
	hits := search(t, x, r.Vectors[2], passage.Filter{}, 1)
	if len(hits) != 1 || hits[0].Passage != passage.NewID(r.ID, 2) || math.Abs(float64(hits[0].Score)-1) > tolerance {
		t.Errorf("got %+v, want passage %d with score 1", hits, passage.NewID(r.ID, 2))
	}
}

func testK(t *testing.T, s *suite) {
	x, rs := s.filled(t)
	q := s.unit()
	for _, k := range []int{1, 2, 51, 200, 250, 1000} {
		compare(t, search(t, x, q, passage.Filter{}, k), exact(rs, q, all, k))
	}
	for _, k := range []int{0, -1} {
		if hits := search(t, x, q, passage.Filter{}, k); len(hits) != 0 {
			t.Errorf("k = %d: %d hits", k, len(hits))
		}
	}
}

func testTies(t *testing.T, s *suite) {
	x, same := s.New(t), s.unit()
	ids := []int64{1_000_040, 1_000_007, 1_000_023, 1_000_001, 1_000_039}
	var want []passage.ID
	for i, id := range ids {
		s.apply(t, x, vector.Batch{Records: []vector.Record{{ID: id, Vectors: [][]float32{same, s.unit(), same}}},
			Checkpoint: int64(i) + 1})
		want = append(want, passage.NewID(id, 0), passage.NewID(id, 2))
	}
	slices.Sort(want)
	for _, k := range []int{3, len(want)} {
		var got []passage.ID
		for _, h := range search(t, x, same, passage.Filter{}, k) {
			got = append(got, h.Passage)
		}
		if !slices.Equal(got, want[:k]) {
			t.Errorf("k = %d: got %v, want %v", k, got, want[:k])
		}
	}
}

func testZero(t *testing.T, s *suite) {
	x, zero := s.New(t), make([]float32, Dimensions)
	r := vector.Record{ID: 1_000_000, Vectors: [][]float32{zero, s.unit(), zero}}
	s.apply(t, x, vector.Batch{Records: []vector.Record{r, {ID: 1_000_001, Vectors: [][]float32{zero}}}, Checkpoint: 1})
	q := opposite(r.Vectors[1]) // so that a zero vector would score better
	compare(t, search(t, x, q, passage.Filter{}, 10), exact([]vector.Record{r}, q, all, 10))
	scores, err := x.Scores(t.Context(), q, []passage.ID{passage.NewID(r.ID, 0)})
	if err != nil || scores[0] != 0 {
		t.Errorf("a zero vector has scores %v, error %v, want 0", scores, err)
	}
	if hits := search(t, x, zero, passage.Filter{}, 10); len(hits) != 0 {
		t.Errorf("a zero query has %d hits", len(hits))
	}
}

func testReplace(t *testing.T, s *suite) {
	x, rs := s.filled(t)
	old := rs[3].Vectors[3]
	rs[3].Vectors = s.units(2) // fewer
	rs[8].Vectors = s.units(9) // more
	rs[9].Vectors = nil        // none
	rs[10].Attributes = passage.Attributes{Kind: "renamed"}
	s.apply(t, x, vector.Batch{Records: []vector.Record{rs[3], rs[8], rs[9], rs[10]}, Checkpoint: 2})
	q := s.unit()
	compare(t, search(t, x, q, passage.Filter{}, 300), exact(rs, q, all, 300))
	if scores, err := x.Scores(t.Context(), old, []passage.ID{passage.NewID(rs[3].ID, 3)}); err != nil ||
		scores[0] != 0 {
		t.Errorf("a passage that its record no longer has: scores %v, error %v", scores, err)
	}
	f := passage.Filter{Kinds: []string{"renamed"}}
	compare(t, search(t, x, q, f, 10), exact(rs[10:11], q, all, 10))
}

func testDelete(t *testing.T, s *suite) {
	x, rs := s.filled(t)
	gone := rs[5]
	s.apply(t, x, vector.Batch{Delete: []int64{gone.ID, rs[6].ID, 999_999}, Checkpoint: 2})
	rs = slices.Delete(rs, 5, 7)
	q := gone.Vectors[0]
	compare(t, search(t, x, q, passage.Filter{}, 300), exact(rs, q, all, 300))
	if hits := search(t, x, q, passage.Filter{Records: []int64{gone.ID}}, 10); len(hits) != 0 {
		t.Errorf("%d hits of a deleted record", len(hits))
	}
	s.apply(t, x, vector.Batch{Records: []vector.Record{gone}, Checkpoint: 3})
	if hits := search(t, x, q, passage.Filter{}, 1); len(hits) != 1 || hits[0].Passage != passage.NewID(gone.ID, 0) {
		t.Errorf("a record that came back: got %+v", hits)
	}
}

func testTwice(t *testing.T, s *suite) {
	x, rs := s.filled(t)
	rs[4].Vectors = s.units(3)
	b := vector.Batch{Records: []vector.Record{rs[4], rs[5]}, Delete: []int64{rs[0].ID}, Checkpoint: 2}
	q := s.unit()
	for range 2 {
		s.apply(t, x, b)
		compare(t, search(t, x, q, passage.Filter{}, 300), exact(rs[1:], q, all, 300))
		if c := checkpoint(t, x); c != 2 {
			t.Errorf("checkpoint %d, want 2", c)
		}
	}
}

func testFilters(t *testing.T, s *suite) {
	x, rs := s.filled(t)
	for name, f := range map[string]passage.Filter{
		"kind":                   {Kinds: []string{"topic"}},
		"kinds are alternatives": {Kinds: []string{"topic", "issue"}},
		"source":                 {Sources: []string{"forum"}},
		"container":              {Containers: []string{"ops/runbooks"}},
		"state":                  {States: []string{"open", "final"}},
		"case is ignored": {Kinds: []string{"DOC"}, Sources: []string{"handbook"},
			States: []string{"FINAL", "OPEN"}},
		"case is ignored beyond ASCII": {Containers: []string{"GÉNÉRAL"}},
		"the whole value counts":       {Containers: []string{"guide", "ops"}},
		"since is inclusive":           {Since: day.AddDate(0, 0, 2)},
		"until is exclusive":           {Until: day.AddDate(0, 0, 2)},
		"between":                      {Since: day.AddDate(0, 0, 1), Until: day.AddDate(0, 0, 3)},
		"nothing between":              {Since: day.AddDate(0, 0, 3), Until: day.AddDate(0, 0, 1)},
		"no date is not before any":    {Until: day.AddDate(100, 0, 0)},
		"records":                      {Records: []int64{rs[7].ID, rs[90].ID, 5}},
		"fields are all required": {Kinds: []string{"doc"}, States: []string{"open"},
			Since: day.AddDate(0, 0, 1), Sources: []string{"handbook"}},
		"records within other fields":     {Records: []int64{rs[0].ID, rs[1].ID, rs[2].ID}, Kinds: []string{"topic"}},
		"an unknown value finds nothing":  {Kinds: []string{"recipe"}},
		"an unknown record finds nothing": {Records: []int64{42}},
	} {
		t.Run(name, func(t *testing.T) {
			q := rs[11].Vectors[0]
			match := func(r vector.Record) bool { return matches(f, r) }
			for _, k := range []int{3, 300} {
				compare(t, search(t, x, q, f, k), exact(rs, q, match, k))
			}
		})
	}
}

func testScores(t *testing.T, s *suite) {
	x, rs := s.filled(t)
	q := s.unit()
	ids := []passage.ID{
		passage.NewID(rs[50].ID, 1), passage.NewID(rs[3].ID, 3), passage.NewID(rs[3].ID, 4), // no such ordinal
		passage.NewID(7, 0), passage.NewID(rs[0].ID, 0), passage.NewID(rs[50].ID, 1), -1,
	}
	want := []float64{cosine(q, rs[50].Vectors[1]), cosine(q, rs[3].Vectors[3]), 0, 0, cosine(q, rs[0].Vectors[0]),
		cosine(q, rs[50].Vectors[1]), 0}
	got, err := x.Scores(t.Context(), q, ids)
	if err != nil || len(got) != len(want) {
		t.Fatalf("%d scores, error %v, want %d", len(got), err, len(want))
	}
	for i := range want {
		if math.Abs(float64(got[i])-want[i]) > tolerance {
			t.Errorf("passage %d: score %v, want %v", ids[i], got[i], want[i])
		}
	}
	if got, err := x.Scores(t.Context(), q, nil); err != nil || len(got) != 0 {
		t.Errorf("no ids: scores %v, error %v", got, err)
	}
	hits := search(t, x, q, passage.Filter{}, 20)
	ids = ids[:0]
	for _, h := range hits {
		ids = append(ids, h.Passage)
	}
	if got, err = x.Scores(t.Context(), q, ids); err != nil {
		t.Fatal(err)
	}
	for i, h := range hits {
		if got[i] != h.Score { // to the bit: who has searched need not ask again
			t.Errorf("passage %d: found with %v, scored %v", h.Passage, h.Score, got[i])
		}
	}
}

func testDimension(t *testing.T, s *suite) {
	x, rs := s.filled(t)
	for _, n := range []int{0, Dimensions - 1, Dimensions + 1} {
		short := make([]float32, n)
		for i := range short {
			short[i] = 1
		}
		if _, err := x.Search(t.Context(), short, passage.Filter{}, 1); err == nil {
			t.Errorf("a query of %d dimensions is accepted", n)
		}
		if _, err := x.Scores(t.Context(), short, []passage.ID{passage.NewID(rs[0].ID, 0)}); err == nil {
			t.Errorf("scores of %d dimensions are accepted", n)
		}
		bad := vector.Record{ID: 1_000_500, Vectors: [][]float32{s.unit(), short}}
		if err := x.Apply(t.Context(), vector.Batch{Records: []vector.Record{{ID: 1_000_400, Vectors: s.units(1)}, bad},
			Checkpoint: 2}); err == nil {
			t.Errorf("a vector of %d dimensions is accepted", n)
		}
	}
	q := s.unit()
	compare(t, search(t, x, q, passage.Filter{}, 300), exact(rs, q, all, 300))
	if c := checkpoint(t, x); c != 1 {
		t.Errorf("checkpoint %d after a refused batch, want 1", c)
	}
}

func testCancelled(t *testing.T, s *suite) {
	x, rs := s.filled(t)
	ctx, q := cancelled(t), s.unit()
	if _, err := x.Search(ctx, q, passage.Filter{}, 10); err == nil {
		t.Error("search: no error")
	}
	if _, err := x.Scores(ctx, q, []passage.ID{passage.NewID(rs[0].ID, 0)}); err == nil {
		t.Error("scores: no error")
	}
	if err := x.Apply(ctx, vector.Batch{Delete: []int64{rs[0].ID}, Checkpoint: 2}); err == nil {
		t.Error("apply: no error")
	}
	compare(t, search(t, x, q, passage.Filter{}, 300), exact(rs, q, all, 300))
	if c := checkpoint(t, x); c != 1 {
		t.Errorf("checkpoint %d after a cancelled batch, want 1", c)
	}
}

func testReopen(t *testing.T, s *suite) {
	if s.Reopen == nil {
		t.Skip("the engine keeps nothing: Options.Reopen is nil")
	}
	x, rs := s.filled(t)
	s.apply(t, x, vector.Batch{Delete: []int64{rs[0].ID}, Checkpoint: 5})
	rs = rs[1:]
	for n := range 2 {
		if err := x.Flush(t.Context()); err != nil {
			t.Fatalf("flush: %v", err)
		}
		if err := x.Close(); err != nil {
			t.Fatalf("close: %v", err)
		}
		x = s.Reopen(t, x)
		if c := checkpoint(t, x); c != int64(5+n) {
			t.Fatalf("checkpoint %d, want %d", c, 5+n)
		}
		q := s.unit()
		compare(t, search(t, x, q, passage.Filter{}, 300), exact(rs, q, all, 300))
		f := passage.Filter{Kinds: []string{"topic"}, Since: day.AddDate(0, 0, 2)}
		compare(t, search(t, x, q, f, 300), exact(rs, q, func(r vector.Record) bool { return matches(f, r) }, 300))
		rs = append(rs, vector.Record{ID: 1_000_200, Attributes: passage.Attributes{Kind: "topic"},
			Vectors: s.units(2)})
		s.apply(t, x, vector.Batch{Records: rs[len(rs)-1:], Checkpoint: int64(6 + n)})
	}
}

func testLost(t *testing.T, s *suite) {
	x, rs := s.filled(t)
	b := vector.Batch{Delete: []int64{rs[0].ID}, After: 2, Checkpoint: 3}
	if err := x.Apply(t.Context(), b); !errors.Is(err, vector.ErrLost) {
		t.Errorf("an index of 1 takes changes after 2: error %v, want ErrLost", err)
	}
	q := rs[0].Vectors[0]
	compare(t, search(t, x, q, passage.Filter{}, 300), exact(rs, q, all, 300))
	if c := checkpoint(t, x); c != 1 {
		t.Errorf("checkpoint %d after a refused batch, want 1", c)
	}
	b.After = 1
	s.apply(t, x, b)
	s.apply(t, x, vector.Batch{After: 0, Checkpoint: 2}) // earlier changes once more
	if c := checkpoint(t, x); c != 2 {
		t.Errorf("checkpoint %d, want 2", c)
	}
}

// testWholeBatches replaces all passages of two records at once, from one side
// of a query to the other, while others search: a search that sees the two on
// different sides saw half a batch.
func testWholeBatches(t *testing.T, s *suite) {
	if s.SplitBatches {
		t.Skip("the engine shows batches in parts")
	}
	x, q := s.New(t), s.unit()
	far := opposite(q)
	side := func(v []float32) []vector.Record {
		return []vector.Record{{ID: 1_000_000, Vectors: [][]float32{v, v}}, {ID: 1_000_001, Vectors: [][]float32{v}}}
	}
	s.apply(t, x, vector.Batch{Records: side(q), Checkpoint: 1})
	done := make(chan struct{})
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				hits, err := x.Search(t.Context(), q, passage.Filter{}, 10)
				if err != nil || len(hits) != 3 || hits[0].Score*hits[2].Score < 0.9 {
					t.Errorf("hits %+v, error %v: want three on one side", hits, err)
					return
				}
				scores, err := x.Scores(t.Context(), q, []passage.ID{hits[0].Passage, hits[1].Passage, hits[2].Passage})
				if err != nil || scores[0]*scores[1] < 0.9 || scores[0]*scores[2] < 0.9 {
					t.Errorf("scores %v, error %v: want three on one side", scores, err)
					return
				}
			}
		})
	}
	until := time.Now().Add(200 * time.Millisecond)
	for n := int64(2); time.Now().Before(until); n += 2 {
		s.apply(t, x, vector.Batch{Records: side(far), Checkpoint: n})
		s.apply(t, x, vector.Batch{Records: side(q), Checkpoint: n + 1})
	}
	close(done)
	wg.Wait()
}
