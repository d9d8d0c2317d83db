package embedded_test

import (
	"context"
	"errors"
	"fmt"
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

func TestDocumentsScoreAsTextbookBM25(t *testing.T) {
	e := open(t, embedded.Config{})
	body := func(id int64, heading, words string) keyword.Passage {
		return keyword.Passage{ID: passage.NewID(id>>8, int(id&255)), Heading: text(strings.Fields(heading)...),
			Body: text(strings.Fields(words)...)}
	}
	records := []keyword.Record{
		// Eight tokens: the heading path "a", then "a b", is read as a and b.
		{ID: 1, Title: text("fox"), Path: text("fox", "fox"),
			Passages: []keyword.Passage{body(1<<8, "a", "fox runs"), body(1<<8+1, "a b", "far away x")}},
		{ID: 2, Title: text("dog"), Passages: []keyword.Passage{body(2<<8, "", "sleeps here now")}},
		{ID: 3, Title: text("fox"), Passages: []keyword.Passage{body(3<<8, "", "and dog")}},
	}
	if err := e.Apply(t.Context(), keyword.Batch{Records: records}); err != nil {
		t.Fatal(err)
	}
	hits := search(t, e, keyword.Query{Unit: keyword.Documents, Terms: []keyword.Term{{Text: "fox", Weight: 1}}})
	idf := math.Log(1 + (3-2+0.5)/(2+0.5))
	bm25 := func(tf, length float64) float64 { return idf * tf * 2.2 / (tf + 1.2*(0.25+0.75*length/5)) }
	want := []keyword.Hit{{Record: 3, Score: bm25(1, 3)}, {Record: 1, Score: bm25(2, 8)}}
	slices.SortFunc(want, func(a, b keyword.Hit) int { return int(math.Copysign(1, b.Score-a.Score)) })
	for i, h := range hits {
		if len(hits) != 2 || h.Record != want[i].Record || math.Abs(h.Score-want[i].Score) > 1e-9 {
			t.Fatalf("%+v, want %+v", hits, want)
		}
	}
}

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

func TestManySmallBatchesEqualOneLarge(t *testing.T) {
	records := zipfRecords(11, 1500)
	large, small := open(t, embedded.Config{}), open(t, embedded.Config{})
	if err := large.Apply(t.Context(), keyword.Batch{Records: records}); err != nil {
		t.Fatal(err)
	}
	for round := range 2 { // the second replaces
		for i := range records {
			if err := small.Apply(t.Context(),
				keyword.Batch{Records: records[i : i+1], Checkpoint: int64(i)}); err != nil {
				t.Fatal(err)
			}
			if n := small.Segments(); n > 50 {
				t.Fatalf("%d segments after %d batches", n, round*len(records)+i+1)
			}
		}
	}
	for unit := range keyword.Unit(2) {
		for _, q := range []keyword.Query{
			{Terms: []keyword.Term{{Text: "w1", Weight: 1}, {Text: "w40", Weight: 1}, {Text: "w400", Weight: 1}}},
			{Phrases: [][]keyword.Term{{{Text: "w0", Weight: 1}, {Text: "w1", Weight: 1}}}},
		} {
			q.Unit = unit
			if a, b := search(t, large, q), search(t, small, q); !slices.Equal(a, b) || len(a) == 0 {
				t.Errorf("%+v: %d and %d hits that differ", q, len(a), len(b))
			}
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

func TestUpdatesAreCompacted(t *testing.T) {
	e := open(t, embedded.Config{})
	const records, updates = 400, 3000
	one := func(id, n int) keyword.Record {
		return keyword.Record{ID: int64(id), Title: text("price", "is", fmt.Sprint(n))}
	}
	var b keyword.Batch
	for id := range records {
		b.Records = append(b.Records, one(id, 0))
	}
	for n := range updates {
		if err := e.Apply(t.Context(), b); err != nil {
			t.Fatal(err)
		}
		if dead := e.Dead(); dead > records/2 {
			t.Fatalf("%d deleted records beside %d after %d updates", dead, records, n)
		}
		b = keyword.Batch{Records: []keyword.Record{one(n%records, n)}, Checkpoint: int64(n)}
	}
	if n := e.Segments(); n > 4*8 {
		t.Errorf("%d segments", n)
	}
}

func TestAcceptMakesRoomForOthers(t *testing.T) {
	e := open(t, embedded.Config{})
	records := zipfRecords(3, 300)
	if err := e.Apply(t.Context(), keyword.Batch{Records: records}); err != nil {
		t.Fatal(err)
	}
	for unit := range keyword.Unit(2) {
		q := keyword.Query{Unit: unit, Terms: []keyword.Term{{Text: "w1", Weight: 1}, {Text: "w3", Weight: 1}}}
		all := slices.DeleteFunc(search(t, e, q), func(h keyword.Hit) bool { return h.Record%3 > 0 })
		q.Accept = func(record int64) bool { return record%3 == 0 }
		got, err := e.Search(t.Context(), q, passage.Filter{}, 10)
		if err != nil || !slices.Equal(got, all[:10]) {
			t.Errorf("unit %d: %v, want %v, error %v", unit, got, all[:10], err)
		}
	}
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

func TestAClosedEngineSaysSo(t *testing.T) {
	e := open(t, embedded.Config{})
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	_, searched := e.Search(t.Context(), everything(), passage.Filter{}, 1)
	for name, err := range map[string]error{"search": searched, "apply": e.Apply(t.Context(), keyword.Batch{}),
		"flush": e.Flush(t.Context()), "close": nil} {
		if (err == nil) != (name == "close") {
			t.Errorf("%s: %v", name, err)
		}
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	e = open(t, embedded.Config{Path: t.TempDir() + "/x"})
	if err := e.Apply(cancelled, keyword.Batch{Checkpoint: 1}); !errors.Is(err, context.Canceled) || e.At() != 0 {
		t.Errorf("apply with a cancelled context: %v", err)
	}
}
