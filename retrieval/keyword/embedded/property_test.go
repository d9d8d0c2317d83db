package embedded_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"almanac/retrieval/analysis"
	"almanac/retrieval/keyword"
	"almanac/retrieval/keyword/embedded"
	"almanac/retrieval/passage"
)

// text makes tokens of words; a word with a plus in front is at the
// position of the one before it, a dash is a position without a token.
func text(words ...string) keyword.Text {
	var t keyword.Text
	position := -1
	for _, w := range words {
		if !strings.HasPrefix(w, "+") || position < 0 {
			position++
		}
		if w = strings.TrimPrefix(w, "+"); w != "-" {
			t.Tokens = append(t.Tokens, analysis.Token{Term: w, Position: position})
		}
	}
	t.Raw = strings.Join(words, " ")
	return t
}

// checkHits compares the engine's best k with all hits of the reference.
func checkHits(want, got []keyword.Hit, k int) error {
	if len(got) != min(k, len(want)) {
		return fmt.Errorf("%d hits of %d, want %d", len(got), len(want), min(k, len(want)))
	}
	scores := map[[2]int64]float64{}
	for _, h := range want {
		scores[[2]int64{h.Record, int64(h.Passage)}] = h.Score
	}
	for i, h := range got {
		score, ok := scores[[2]int64{h.Record, int64(h.Passage)}]
		if !ok || math.Abs(score-h.Score) > 1e-6 {
			return fmt.Errorf("hit %d is %+v, its score is %v (matches: %v)", i, h, score, ok)
		}
		if math.Abs(want[i].Score-h.Score) > 1e-6 {
			return fmt.Errorf("hit %d is %+v, the reference has %+v there", i, h, want[i])
		}
		if i > 0 && (got[i-1].Score < h.Score || got[i-1].Score == h.Score &&
			(got[i-1].Record > h.Record || got[i-1].Record == h.Record && got[i-1].Passage >= h.Passage)) {
			return fmt.Errorf("hits %d and %d are out of order: %+v %+v", i-1, i, got[i-1], h)
		}
		// Documents that tie are those of least id: one left out has a smaller
		// score, or the same and a greater id.
		delete(scores, [2]int64{h.Record, int64(h.Passage)})
	}
	if len(got) == 0 {
		return nil
	}
	last := got[len(got)-1]
	for id, score := range scores {
		if score > last.Score+1e-6 || math.Abs(score-last.Score) < 1e-12 &&
			(id[0] < last.Record || id[0] == last.Record && id[1] < int64(last.Passage)) {
			return fmt.Errorf("%v with %v is missing: the last hit is %+v", id, score, last)
		}
	}
	return nil
}

var someWords = []string{"a", "ab", "abc", "abd", "b", "bc", "c", "ca", "cab", "日本", "d", "e"}

func genText(t *rapid.T, most int) keyword.Text {
	word := rapid.Custom(func(t *rapid.T) string {
		// Squaring makes the first words the common ones.
		n := rapid.IntRange(0, len(someWords)*len(someWords)-1).Draw(t, "word")
		w := someWords[n/len(someWords)*(n%len(someWords))/len(someWords)]
		return rapid.SampledFrom([]string{"", "", "", "+"}).Draw(t, "join") + w
	})
	return text(rapid.SliceOfN(rapid.OneOf(word, word, word, rapid.Just("-")), 0, most).Draw(t, "words")...)
}

func genRecord(t *rapid.T) keyword.Record {
	r := keyword.Record{ID: rapid.Int64Range(1, 30).Draw(t, "id"), Title: genText(t, 3), Path: genText(t, 2),
		Attributes: passage.Attributes{
			Kind:  rapid.SampledFrom([]string{"", "Doc", "cip", "topic"}).Draw(t, "kind"),
			State: rapid.SampledFrom([]string{"", "open", "closed"}).Draw(t, "state"),
		}}
	if day := rapid.IntRange(0, 5).Draw(t, "day"); day > 0 {
		r.Attributes.Date = time.Date(2025, 1, day, 0, 0, 0, 0, time.UTC)
	}
	for i := range rapid.IntRange(0, 4).Draw(t, "passages") {
		r.Passages = append(r.Passages, keyword.Passage{ID: passage.NewID(r.ID, 2*i), Heading: genText(t, 3),
			Body: genText(t, 12)})
	}
	return r
}

func genBatch(t *rapid.T) keyword.Batch {
	return keyword.Batch{
		Records: rapid.SliceOfN(rapid.Custom(genRecord), 0, 6).Draw(t, "records"),
		Delete:  rapid.SliceOfN(rapid.Int64Range(1, 30), 0, 3).Draw(t, "delete"),
	}
}

func genTerms(t *rapid.T, least, most int, label string) []keyword.Term {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) keyword.Term {
		return keyword.Term{
			Text:   rapid.SampledFrom(append([]string{"unknown", ""}, someWords...)).Draw(t, "text"),
			Weight: rapid.SampledFrom([]float64{0, 0.3, 1, 1, 2.5}).Draw(t, "weight"),
		}
	}), least, most).Draw(t, label)
}

func genQuery(t *rapid.T) (keyword.Query, passage.Filter) {
	q := keyword.Query{Unit: keyword.Unit(rapid.IntRange(0, 1).Draw(t, "unit")), Terms: genTerms(t, 0, 5, "terms")}
	for range rapid.SampledFrom([]int{0, 0, 1, 2}).Draw(t, "phrases") {
		q.Phrases = append(q.Phrases, genTerms(t, 1, 3, "phrase"))
	}
	if rapid.IntRange(0, 3).Draw(t, "choosy") == 0 {
		q.Accept = func(record int64) bool { return record%4 != 1 }
	}
	var f passage.Filter
	if rapid.Bool().Draw(t, "filtered") {
		f.Kinds = rapid.SliceOfN(rapid.SampledFrom([]string{"doc", "CIP", "none"}), 0, 2).Draw(t, "kinds")
		f.Records = rapid.SliceOfN(rapid.Int64Range(1, 30), 0, 3).Draw(t, "only")
		if day := rapid.IntRange(0, 5).Draw(t, "since"); day > 0 {
			f.Since = time.Date(2025, 1, day, 0, 0, 0, 0, time.UTC)
		}
		if day := rapid.IntRange(0, 5).Draw(t, "until"); day > 0 {
			f.Until = time.Date(2025, 1, day, 0, 0, 0, 0, time.UTC)
		}
	}
	return q, f
}

var testScoring = [2]embedded.Scoring{
	keyword.Passages:  {K1: 0.9, B: 0.4, FieldWeights: [analysis.NumFields]float64{2.5, 1.25, 1, 0.3}},
	keyword.Documents: embedded.DefaultScoring(keyword.Documents),
}

func TestAnyHistoryGivesTheResultsOfTheReference(t *testing.T) {
	dir := t.TempDir()
	run := 0
	rapid.Check(t, func(t *rapid.T) {
		run++
		path := filepath.Join(dir, fmt.Sprint(run))
		open := func() *embedded.Engine {
			e, err := embedded.Open(embedded.Config{Path: path, Scoring: testScoring})
			if err != nil {
				t.Fatal(err)
			}
			return e
		}
		e, model := open(), newReference(testScoring)
		t.Repeat(map[string]func(*rapid.T){
			"apply": func(t *rapid.T) {
				b := genBatch(t)
				for range rapid.IntRange(1, 2).Draw(t, "times") {
					if err := e.Apply(t.Context(), b); err != nil {
						t.Fatal(err)
					}
				}
				model.apply(b)
			},
			"compact": func(t *rapid.T) {
				e.Compact()
			},
			"reopen": func(t *rapid.T) {
				if err := e.Flush(t.Context()); err != nil {
					t.Fatal(err)
				}
				e = open()
			},
			"search": func(t *rapid.T) {
				q, f := genQuery(t)
				k := rapid.IntRange(1, 12).Draw(t, "k")
				got, err := e.Search(t.Context(), q, f, k)
				if err != nil {
					t.Fatal(err)
				}
				if err := checkHits(model.search(q, f), got, k); err != nil {
					t.Fatalf("query %+v filter %+v: %v", q, f, err)
				}
			},
		})
	})
}

// zipfRecords makes records with words in Zipf's distribution, so that lists
// have many blocks and windows are pruned.
func zipfRecords(seed uint64, n int) []keyword.Record {
	rng := rand.New(rand.NewPCG(seed, 1))
	zipf := rand.NewZipf(rng, 1.1, 3, 3000)
	words := func(n int) keyword.Text {
		list := make([]string, n)
		for i := range list {
			list[i] = fmt.Sprintf("w%d", zipf.Uint64())
		}
		return text(list...)
	}
	records := make([]keyword.Record, n)
	for i := range records {
		r := keyword.Record{ID: int64(i + 1), Title: words(rng.IntN(4)),
			Attributes: passage.Attributes{Kind: fmt.Sprintf("k%d", rng.IntN(50))}}
		for j := range rng.IntN(6) {
			r.Passages = append(r.Passages, keyword.Passage{ID: passage.NewID(r.ID, j), Body: words(1 + rng.IntN(12))})
		}
		records[i] = r
	}
	return records
}

func TestPrunedSearchEqualsExhaustiveSearch(t *testing.T) {
	const records = 2500
	all := zipfRecords(7, records)
	e, err := embedded.Open(embedded.Config{Scoring: testScoring})
	if err != nil {
		t.Fatal(err)
	}
	model := newReference(testScoring)
	rng := rand.New(rand.NewPCG(7, 2))
	apply := func(b keyword.Batch) {
		if err := e.Apply(t.Context(), b); err != nil {
			t.Fatal(err)
		}
		model.apply(b)
	}
	apply(keyword.Batch{Records: all[:2000]})
	for lo := 2000; lo < records; lo += 100 {
		apply(keyword.Batch{Records: all[lo : lo+100], Delete: []int64{rng.Int64N(records), rng.Int64N(records)}})
	}
	zipf := rand.NewZipf(rng, 1.05, 8, 3000)
	check := func(name string) {
		for range 25 {
			q := keyword.Query{Unit: keyword.Unit(rng.IntN(2))}
			for range 1 + rng.IntN(8) {
				q.Terms = append(q.Terms, keyword.Term{Text: fmt.Sprintf("w%d", zipf.Uint64()), Weight: 0.5 +
					rng.Float64()})
			}
			var f passage.Filter
			switch rng.IntN(4) {
			case 0:
				f.Kinds = []string{"k1", "K2"}
			case 1:
				f.Kinds = []string{"k3"}
			case 2:
				q.Phrases = [][]keyword.Term{{{Text: "w0", Weight: 1}, {Text: "w1", Weight: 1}}}
			}
			k := 1 + rng.IntN(30)
			got, err := e.Search(t.Context(), q, f, k)
			if err != nil {
				t.Fatal(err)
			}
			if err := checkHits(model.search(q, f), got, k); err != nil {
				t.Fatalf("%s: query %+v filter %+v k %d: %v", name, q, f, k, err)
			}
		}
	}
	check(fmt.Sprintf("%d segments", e.Segments()))
	e.Compact()
	check("one segment")
}
