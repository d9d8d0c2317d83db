// Package vectortest is the conformance suite of vector engines: what every
// vector.Index promises, as tests. An engine joins with a constructor:
//
//	func TestConformance(t *testing.T) {
//		vectortest.Run(t, vectortest.Options{New: func(t *testing.T) vector.Index { … }})
//	}
//
// The suite is deterministic: a fixed seed, at most 300 passages at a time and
// the same calls in every test, so that it also runs on recorded calls. Tests
// of terms run if the engine is vector.Sparse.
package vectortest

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"almanac/retrieval/passage"
	"almanac/retrieval/vector"
)

// Dimensions is the length of the vectors that the suite stores.
const Dimensions = 8

// Options say how to create an engine and how it differs.
type Options struct {
	// New returns an empty index for vectors of Dimensions; t cleans it up.
	New func(t *testing.T) vector.Index
	// Reopen returns an index on what the given one, already closed, has flushed;
	// nil if the engine is not durable.
	Reopen func(t *testing.T, closed vector.Index) vector.Index
	// SplitBatches: a search during Apply can see a part of the batch.
	SplitBatches bool
}

// Run runs the suite.
func Run(t *testing.T, o Options) {
	for _, c := range []struct {
		name string
		test func(*testing.T, *suite)
	}{
		{"an empty index finds nothing", testEmpty},
		{"the nearest come first with their cosine", testNearest},
		{"k bounds the hits", testK},
		{"equal scores order by id", testTies},
		{"zero vectors are never found", testZero},
		{"a record is replaced whole", testReplace},
		{"a deleted record is gone", testDelete},
		{"a batch applied twice is as once", testTwice},
		{"filters narrow the search", testFilters},
		{"scores are those of the ids asked for", testScores},
		{"the wrong dimension is an error", testDimension},
		{"a cancelled context is an error", testCancelled},
		{"what was flushed is there again", testReopen},
		{"a batch that continues from later than the index holds is refused", testLost},
		{"a search sees a whole batch or none of it", testWholeBatches},
		{"terms: the rarer, more frequent and denser come first", testTermOrder},
		{"terms: scores are sums of weights", testTermSums},
		{"terms: of every field are found", testTermFields},
		{"terms: k and filters bound the hits", testTermBounds},
		{"terms: of replaced and deleted records are gone", testTermUpkeep},
		{"terms: queries that hold nothing find nothing", testTermNothing},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(t, &suite{o, rand.New(rand.NewPCG(7, 42))}) })
	}
}

type suite struct {
	Options
	random *rand.Rand
}

// unit returns a random unit vector.
func (s *suite) unit() []float32 {
	v := make([]float32, Dimensions)
	var square float64
	for i := range v {
		v[i] = float32(s.random.NormFloat64())
		square += float64(v[i]) * float64(v[i])
	}
	for i := range v {
		v[i] /= float32(math.Sqrt(square))
	}
	return v
}

// opposite returns the vector that is farthest from another.
func opposite(v []float32) []float32 {
	far := make([]float32, len(v))
	for i, c := range v {
		far[i] = -c
	}
	return far
}

func (s *suite) units(n int) [][]float32 {
	vs := make([][]float32, n)
	for i := range vs {
		vs[i] = s.unit()
	}
	return vs
}

var day = time.Date(2031, 5, 17, 0, 0, 0, 0, time.UTC)

// records returns n records of one to four passages, with attributes that
// cycle at different lengths.
func (s *suite) records(n int) []vector.Record {
	rs := make([]vector.Record, n)
	for i := range rs {
		rs[i] = vector.Record{
			ID: 1_000_000 + int64(i),
			Attributes: passage.Attributes{
				Kind:      []string{"doc", "topic", "issue"}[i%3],
				Source:    []string{"Handbook", "forum"}[i%2],
				Container: []string{"guides", "announcements", "Général", "ops/runbooks", ""}[i%5],
				State:     []string{"open", "closed", "", "Final"}[i%4],
				Date:      day.AddDate(0, 0, i%7),
			},
			Vectors: s.units(1 + i%4),
		}
		if i%7 == 6 {
			rs[i].Attributes.Date = time.Time{}
		}
	}
	return rs
}

func (s *suite) apply(t *testing.T, x vector.Index, b vector.Batch) {
	t.Helper()
	if err := x.Apply(t.Context(), b); err != nil {
		t.Fatalf("apply: %v", err)
	}
}

// filled returns an index of 100 records.
func (s *suite) filled(t *testing.T) (vector.Index, []vector.Record) {
	t.Helper()
	x, rs := s.New(t), s.records(100)
	s.apply(t, x, vector.Batch{Records: rs, Checkpoint: 1})
	return x, rs
}

func search(t *testing.T, x vector.Index, q []float32, f passage.Filter, k int) []vector.Hit {
	t.Helper()
	hits, err := x.Search(t.Context(), q, f, k)
	if err != nil {
		t.Fatalf("search: %v", err)
	}
	return hits
}

func checkpoint(t *testing.T, x vector.Index) int64 {
	t.Helper()
	n, err := x.Checkpoint(t.Context())
	if err != nil {
		t.Fatalf("checkpoint: %v", err)
	}
	return n
}

func cosine(a, b []float32) float64 {
	var ab, aa, bb float64
	for i := range a {
		ab += float64(a[i]) * float64(b[i])
		aa += float64(a[i]) * float64(a[i])
		bb += float64(b[i]) * float64(b[i])
	}
	if aa == 0 || bb == 0 {
		return 0
	}
	return ab / math.Sqrt(aa*bb)
}

// exact returns the hits by definition.
func exact(rs []vector.Record, q []float32, match func(vector.Record) bool, k int) []vector.Hit {
	var hits []vector.Hit
	for _, r := range rs {
		if !match(r) {
			continue
		}
		for i, v := range r.Vectors {
			if cosine(v, v) != 0 {
				hits = append(hits, vector.Hit{Passage: passage.NewID(r.ID, i), Score: float32(cosine(q, v))})
			}
		}
	}
	slices.SortFunc(hits, func(a, b vector.Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Passage, b.Passage))
	})
	return hits[:min(k, len(hits))]
}

func all(vector.Record) bool { return true }

// tolerance allows for vectors that an engine keeps in 16 bits.
const tolerance = 1e-4

// compare wants the same hits; those with nearly equal scores may be in either order.
func compare(t *testing.T, got, want []vector.Hit) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d hits, want %d", len(got), len(want))
	}
	scores := make(map[passage.ID]float32, len(want))
	for _, h := range want {
		scores[h.Passage] = h.Score
	}
	seen := make(map[passage.ID]bool, len(got))
	for i, h := range got {
		exact, ok := scores[h.Passage]
		last := want[len(want)-1].Score
		switch {
		case seen[h.Passage]:
			t.Errorf("hit %d: passage %d occurs twice", i, h.Passage)
		case !ok && math.Abs(float64(h.Score-last)) > tolerance:
			t.Errorf("hit %d: passage %d (%v) is none of the best", i, h.Passage, h.Score)
		case ok && math.Abs(float64(h.Score-exact)) > tolerance:
			t.Errorf("hit %d: score %v, want %v", i, h.Score, exact)
		case math.Abs(float64(h.Score-want[i].Score)) > tolerance:
			t.Errorf("hit %d: score %v, but the best there is has %v", i, h.Score, want[i].Score)
		case i > 0 && h.Score > got[i-1].Score:
			t.Errorf("hit %d: score %v after %v", i, h.Score, got[i-1].Score)
		}
		seen[h.Passage] = true
	}
}

// matches applies a filter by definition.
func matches(f passage.Filter, r vector.Record) bool {
	one := func(wanted []string, value string) bool {
		return len(wanted) == 0 ||
			slices.ContainsFunc(wanted, func(w string) bool { return strings.EqualFold(w, value) })
	}
	a := r.Attributes
	dated := !a.Date.IsZero()
	return one(f.Kinds, a.Kind) && one(f.Sources, a.Source) && one(f.Containers, a.Container) &&
		one(f.States, a.State) && (f.Since.IsZero() || dated && !a.Date.Before(f.Since)) &&
		(f.Until.IsZero() || dated && a.Date.Before(f.Until)) &&
		(len(f.Records) == 0 || slices.Contains(f.Records, r.ID))
}

func cancelled(t *testing.T) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}
