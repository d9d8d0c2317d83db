package embedded_test

import (
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"almanac/retrieval/analysis"
	"almanac/retrieval/keyword"
	"almanac/retrieval/keyword/embedded"
	"almanac/retrieval/passage"
)

func TestABadBatchChangesNothing(t *testing.T) {
	e := open(t, embedded.Config{})
	good := keyword.Record{ID: 1, Title: text("good")}
	if err := e.Apply(t.Context(), keyword.Batch{Records: []keyword.Record{good}, Checkpoint: 1}); err != nil {
		t.Fatal(err)
	}
	one := func(p ...keyword.Passage) []keyword.Record { return []keyword.Record{{ID: 2, Passages: p}} }
	for name, records := range map[string][]keyword.Record{
		"negative id":               {{ID: -1}},
		"id too large for passages": {{ID: 1 << 47}},
		"passage of another record": one(keyword.Passage{ID: passage.NewID(3, 0)}),
		"passage that occurs twice": one(keyword.Passage{ID: passage.NewID(2, 1)},
			keyword.Passage{ID: passage.NewID(2, 1)}),
		"good one before the bad one": {good, {ID: -5}},
	} {
		if err := e.Apply(t.Context(), keyword.Batch{Records: records, Delete: []int64{1}, Checkpoint: 9}); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
	q := keyword.Query{Unit: keyword.Documents, Terms: []keyword.Term{{Text: "good", Weight: 1}}}
	if hits := search(t, e, q); len(hits) != 1 || e.At() != 1 {
		t.Errorf("%d hits, checkpoint %d, want 1 and 1", len(hits), e.At())
	}
}

func TestUglyInputIsIndexed(t *testing.T) {
	e := open(t, embedded.Config{})
	token := func(term string, position int) analysis.Token { return analysis.Token{Term: term, Position: position} }
	r := keyword.Record{ID: 0, Title: keyword.Text{Tokens: []analysis.Token{token("late", 9), token("early", 3),
		token("", 4), token("next", 4), token("minus", -7), token("far", math.MaxInt)}}}
	r.Passages = []keyword.Passage{{ID: 5, Body: text("fifth")}, {ID: 2, Body: text(strings.Repeat("x", 100_000))}}
	r.Attributes.Container = strings.Repeat("long ", 1000)
	many := make([]string, 70_000)
	for i := range many {
		many[i] = "again"
	}
	r.Path = text(many...)
	if err := e.Apply(t.Context(),
		keyword.Batch{Records: []keyword.Record{{ID: 0, Title: text("older")}, r}}); err != nil {
		t.Fatal(err)
	}
	for word, want := range map[string]int{"early": 1, "older": 0, "minus": 1, "far": 1, "fifth": 1, "again": 0} {
		q := keyword.Query{Unit: keyword.Documents, Terms: []keyword.Term{{Text: word, Weight: 1}}}
		if got := len(search(t, e, q)); got != want {
			t.Errorf("%q finds %d records, want %d", word, got, want)
		}
	}
	for _, word := range []string{"early", "again"} { // the path is a field of passages
		if hits := search(t, e, keyword.Query{Terms: []keyword.Term{{Text: word, Weight: 1}}}); len(hits) != 2 {
			t.Errorf("%q finds %d passages, want 2", word, len(hits))
		}
	}
	weird := []keyword.Term{{Text: "early", Weight: math.NaN()}, {Text: "late", Weight: math.Inf(1)},
		{Text: "next", Weight: -3}, {Text: "fifth", Weight: 1e300}}
	for _, h := range search(t, e, keyword.Query{Terms: slices.Repeat(weird, 50)}) {
		if !(h.Score >= 0) || math.IsInf(h.Score, 0) {
			t.Errorf("score %v", h.Score)
		}
	}
}

// TestSegmentsKeepNothingThatTheyWereMadeOf holds what an index of many batches and
// merges has in memory to a few times its size: neither what a batch was inverted
// in nor the segments that were merged.
func TestSegmentsKeepNothingThatTheyWereMadeOf(t *testing.T) {
	records := zipfRecords(12, 6000)
	e := open(t, embedded.Config{})
	before := heap()
	for batch := range slices.Chunk(records, 50) {
		if err := e.Apply(t.Context(), keyword.Batch{Records: batch}); err != nil {
			t.Fatal(err)
		}
	}
	held := heap() - before
	t.Logf("%d segments of %d kB hold %d kB", e.Segments(), e.Size()>>10, held>>10)
	if held > 3*e.Size() {
		t.Errorf("%d segments of %d bytes hold %d", e.Segments(), e.Size(), held)
	}
	runtime.KeepAlive(records)
}

// heap is the memory of live objects, in bytes.
func heap() int {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

func TestConfigurationIsChecked(t *testing.T) {
	weights := [analysis.NumFields]float64{1, 1, 1, 1}
	for name, s := range map[string]embedded.Scoring{
		"negative k1":     {K1: -1, FieldWeights: weights},
		"b above 1":       {K1: 1, B: 1.5, FieldWeights: weights},
		"no weight":       {K1: 1},
		"negative weight": {K1: 1, FieldWeights: [analysis.NumFields]float64{1, -1}},
		"not a number":    {K1: math.NaN(), FieldWeights: weights},
	} {
		if _, err := embedded.Open(embedded.Config{Scoring: [2]embedded.Scoring{keyword.Documents: s}}); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}
