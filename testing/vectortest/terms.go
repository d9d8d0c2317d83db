package vectortest

import (
	"math"
	"slices"
	"strings"
	"testing"

	"almanac/retrieval/analysis"
	"almanac/retrieval/passage"
	"almanac/retrieval/vector"
)

// sparse returns an index with records, or skips the test.
func (s *suite) sparse(t *testing.T, rs ...vector.Record) vector.Sparse {
	t.Helper()
	x, ok := s.New(t).(vector.Sparse)
	if !ok {
		t.Skip("the engine is not vector.Sparse")
	}
	s.apply(t, x, vector.Batch{Records: rs, Checkpoint: 1})
	return x
}

// packed returns a passage's terms; words are not stemmed.
func packed(t *testing.T, title, heading, body, path string) analysis.Packed {
	t.Helper()
	var fields [analysis.NumFields][]analysis.Token
	for f, text := range map[analysis.Field]string{analysis.Title: title, analysis.Heading: heading,
		analysis.Body: body, analysis.Path: path} {
		for i, word := range strings.Fields(text) {
			fields[f] = append(fields[f], analysis.Token{Term: word, Position: i})
		}
	}
	p, err := analysis.View(analysis.Pack(fields))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// texts returns a record whose passages have these bodies.
func (s *suite) texts(t *testing.T, id int64, bodies ...string) vector.Record {
	t.Helper()
	r := vector.Record{ID: id, Vectors: s.units(len(bodies))}
	for _, body := range bodies {
		r.Terms = append(r.Terms, packed(t, "", "", body, ""))
	}
	return r
}

// words returns a query of words, each of weight 1.
func words(list string) []vector.Term {
	var terms []vector.Term
	for _, word := range strings.Fields(list) {
		terms = append(terms, vector.Term{ID: analysis.IDOf(word), Weight: 1})
	}
	return terms
}

func searchTerms(t *testing.T, x vector.Sparse, terms []vector.Term, f passage.Filter, k int) []vector.Hit {
	t.Helper()
	hits, err := x.SearchTerms(t.Context(), terms, f, k)
	if err != nil {
		t.Fatalf("search terms: %v", err)
	}
	for i, h := range hits {
		if !(h.Score > 0) || i > 0 && h.Score > hits[i-1].Score {
			t.Errorf("hit %d: score %v", i, h.Score)
		}
	}
	return hits
}

// found requires these passages in this order.
func found(t *testing.T, what string, hits []vector.Hit, want ...passage.ID) {
	t.Helper()
	var got []passage.ID
	for _, h := range hits {
		got = append(got, h.Passage)
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s: passages %v, want %v", what, got, want)
	}
}

func first(record int64) passage.ID { return passage.NewID(record, 0) }

func testTermOrder(t *testing.T, s *suite) {
	filler := strings.Repeat("filler ", 30)
	x := s.sparse(t,
		s.texts(t, 1_000_001, "common rare four five"), s.texts(t, 1_000_002, "common once two three"),
		s.texts(t, 1_000_003, "common twice twice three"), s.texts(t, 1_000_004, "common twice two three"),
		s.texts(t, 1_000_005, "common short two three", "common short "+filler))
	found(t, "more occurrences", searchTerms(t, x, words("twice"), passage.Filter{}, 10), first(1_000_003),
		first(1_000_004))
	found(t, "a shorter passage", searchTerms(t, x, words("short"), passage.Filter{}, 10), first(1_000_005),
		passage.NewID(1_000_005, 1))
	hits := searchTerms(t, x, words("rare common"), passage.Filter{}, 10)
	if len(hits) != 6 || hits[0].Passage != first(1_000_001) {
		t.Errorf("a common and a rare term: %+v, want six, passage %d first", hits, first(1_000_001))
	}
	found(t, "a rare term outweighs a common one", searchTerms(t, x, words("once common"), passage.Filter{}, 1),
		first(1_000_002))
}

func testTermSums(t *testing.T, s *suite) {
	x := s.sparse(t, s.texts(t, 1_000_001, "one two"), s.texts(t, 1_000_002, "two three"),
		s.texts(t, 1_000_003, "four five"))
	scores := func(terms []vector.Term) map[passage.ID]float64 {
		m := map[passage.ID]float64{}
		for _, h := range searchTerms(t, x, terms, passage.Filter{}, 10) {
			m[h.Passage] = float64(h.Score)
		}
		return m
	}
	one, two := scores(words("one")), scores(words("two"))
	for name, c := range map[string]struct {
		terms []vector.Term
		want  func(id passage.ID) float64
	}{
		"two terms": {words("one two"), func(id passage.ID) float64 { return one[id] + two[id] }},
		"a weight": {[]vector.Term{{ID: analysis.IDOf("two"), Weight: 2.5}},
			func(id passage.ID) float64 { return 2.5 * two[id] }},
		"a term twice":  {words("two two"), func(id passage.ID) float64 { return 2 * two[id] }},
		"unknown terms": {words("one unheard of"), func(id passage.ID) float64 { return one[id] }},
	} {
		got := scores(c.terms)
		for _, id := range []passage.ID{first(1_000_001), first(1_000_002), first(1_000_003)} {
			if want := c.want(id); math.Abs(got[id]-want) > 1e-5*(1+want) {
				t.Errorf("%s: passage %d has score %v, want %v", name, id, got[id], want)
			}
		}
	}
}

func testTermFields(t *testing.T, s *suite) {
	r := vector.Record{ID: 1_000_001, Vectors: s.units(2), Terms: []analysis.Packed{
		packed(t, "title", "heading", "body", "path"), packed(t, "title", "", "other", "path")}}
	zero := make([]float32, Dimensions)
	without := vector.Record{ID: 1_000_002, Vectors: [][]float32{zero},
		Terms: []analysis.Packed{packed(t, "", "", "vectorless", "")}}
	x := s.sparse(t, r, without, s.texts(t, 1_000_003, "nothing of it"),
		vector.Record{ID: 1_000_004, Vectors: s.units(1)})
	for word, want := range map[string][]passage.ID{
		"heading": {first(r.ID)}, "body": {first(r.ID)}, "other": {passage.NewID(r.ID, 1)},
		"vectorless": {first(without.ID)}} {
		found(t, word, searchTerms(t, x, words(word), passage.Filter{}, 10), want...)
	}
	for _, word := range []string{"title", "path"} {
		if hits := searchTerms(t, x, words(word), passage.Filter{}, 10); len(hits) != 2 ||
			hits[0].Passage.Record() != r.ID || hits[1].Passage.Record() != r.ID {
			t.Errorf("%s: hits %+v, want both passages of record %d", word, hits, r.ID)
		}
	}
}

func testTermBounds(t *testing.T, s *suite) {
	rs := s.records(20)
	var want []passage.ID
	for i := range rs {
		rs[i].Terms = make([]analysis.Packed, len(rs[i].Vectors))
		for n := range rs[i].Terms {
			rs[i].Terms[n] = packed(t, "", "", "same words", "")
			want = append(want, passage.NewID(rs[i].ID, n))
		}
	}
	x := s.sparse(t, rs...)
	for _, k := range []int{1, 7, len(want), 300} {
		found(t, "equal scores order by id", searchTerms(t, x, words("same"), passage.Filter{}, k),
			want[:min(k, len(want))]...)
	}
	for _, k := range []int{0, -1} {
		found(t, "no hits are wanted", searchTerms(t, x, words("same"), passage.Filter{}, k))
	}
	f := passage.Filter{Kinds: []string{"TOPIC"}, Since: day.AddDate(0, 0, 2), Until: day.AddDate(0, 0, 5)}
	matching := slices.DeleteFunc(slices.Clone(want),
		func(id passage.ID) bool { return !matches(f, rs[id.Record()-rs[0].ID]) })
	found(t, "filtered", searchTerms(t, x, words("words"), f, 300), matching...)
	if _, err := x.SearchTerms(cancelled(t), words("same"), passage.Filter{}, 10); err == nil {
		t.Error("cancelled: no error")
	}
}

func testTermUpkeep(t *testing.T, s *suite) {
	x := s.sparse(t, s.texts(t, 1_000_001, "old", "old tail"), s.texts(t, 1_000_002, "old"),
		s.texts(t, 1_000_003, "old"))
	bare := s.texts(t, 1_000_003, "")
	bare.Terms = nil
	s.apply(t, x, vector.Batch{Records: []vector.Record{s.texts(t, 1_000_001, "new"), bare}, Delete: []int64{1_000_002},
		Checkpoint: 2})
	found(t, "old terms", searchTerms(t, x, words("old tail"), passage.Filter{}, 10))
	found(t, "new terms", searchTerms(t, x, words("new"), passage.Filter{}, 10), first(1_000_001))
	if scores, err := x.Scores(t.Context(), bare.Vectors[0], []passage.ID{first(bare.ID)}); err != nil ||
		scores[0] < 0.999 {
		t.Errorf("a passage that lost its terms has scores %v, error %v, want 1", scores, err)
	}
	zero := make([]float32, Dimensions)
	bare.Vectors, bare.Terms = [][]float32{zero}, []analysis.Packed{packed(t, "", "", "again", "")}
	s.apply(t, x, vector.Batch{Records: []vector.Record{bare}, Checkpoint: 3})
	found(t, "terms without a vector", searchTerms(t, x, words("again"), passage.Filter{}, 10), first(bare.ID))
	for _, h := range search(t, x, s.unit(), passage.Filter{}, 10) {
		if h.Passage == first(bare.ID) {
			t.Error("a passage that lost its vector is found by it")
		}
	}
}

func testTermNothing(t *testing.T, s *suite) {
	x := s.sparse(t, s.texts(t, 1_000_001, "some words"))
	for name, terms := range map[string][]vector.Term{
		"no terms": nil, "unknown terms": words("never heard"), "no weight": {{ID: analysis.IDOf("some")}}} {
		found(t, name, searchTerms(t, x, terms, passage.Filter{}, 10))
	}
	if _, err := x.SearchTerms(t.Context(), []vector.Term{{ID: analysis.IDOf("some"), Weight: math.NaN()}},
		passage.Filter{}, 10); err == nil {
		t.Error("a weight that is not a number: no error")
	}
	empty, ok := s.New(t).(vector.Sparse)
	if !ok {
		t.Fatal("the engine is Sparse at times")
	}
	found(t, "an empty index", searchTerms(t, empty, words("some"), passage.Filter{}, 10))
}
