package embedded_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"almanac/retrieval/keyword"
	"almanac/retrieval/keyword/embedded"
	"almanac/retrieval/passage"
)

// benchWord spells a number in syllables, as words are.
func benchWord(n uint64) string {
	const syllables = "baceditofumareligotusanevipochu"
	word := ""
	for ; n > 0 || word == ""; n /= 15 {
		word += syllables[n%15*2 : n%15*2+2]
	}
	return word
}

// benchRecords are n records of three passages of 150 words each.
func benchRecords(n int) []keyword.Record {
	rng := rand.New(rand.NewPCG(1, 9))
	zipf := rand.NewZipf(rng, 1.1, 8, 200_000)
	records := make([]keyword.Record, n)
	for i := range records {
		r := keyword.Record{ID: int64(i + 1), Attributes: passage.Attributes{Kind: fmt.Sprint("kind", i%20)}}
		for p := range 3 {
			list := make([]string, 150)
			for j := range list {
				list[j] = benchWord(zipf.Uint64())
			}
			r.Passages = append(r.Passages, keyword.Passage{ID: passage.NewID(r.ID, p), Body: text(list...)})
		}
		records[i] = r
	}
	return records
}

func benchQueries(terms int) []keyword.Query {
	rng := rand.New(rand.NewPCG(2, 9))
	zipf := rand.NewZipf(rng, 1.05, 40, 100_000)
	queries := make([]keyword.Query, 500)
	for i := range queries {
		for range terms {
			queries[i].Terms = append(queries[i].Terms, keyword.Term{Text: benchWord(zipf.Uint64()), Weight: 1})
		}
	}
	return queries
}

func benchEngine(b *testing.B, path string, records []keyword.Record) *embedded.Engine {
	e := open(b, embedded.Config{Path: path})
	for i := 0; i < len(records); i += 200 {
		if err := e.Apply(b.Context(), keyword.Batch{Records: records[i:min(i+200, len(records))],
			Checkpoint: int64(i + 1)}); err != nil {
			b.Fatal(err)
		}
	}
	return e
}

func BenchmarkSearch(b *testing.B) {
	for _, records := range []int{500, 15_000} {
		e := benchEngine(b, "", benchRecords(records))
		for _, c := range []struct {
			name   string
			terms  int
			k      int
			unit   keyword.Unit
			filter passage.Filter
		}{
			{"terms=4/k=10", 4, 10, keyword.Passages, passage.Filter{}},
			{"terms=4/k=200", 4, 200, keyword.Passages, passage.Filter{}},
			{"terms=25/k=10", 25, 10, keyword.Passages, passage.Filter{}},
			{"terms=4/k=10/kind", 4, 10, keyword.Passages, passage.Filter{Kinds: []string{"kind3"}}},
			{"terms=4/k=10/three records", 4, 10, keyword.Passages, passage.Filter{Records: []int64{5, 50, 400}}},
			{"terms=4/k=10/documents", 4, 10, keyword.Documents, passage.Filter{}},
		} {
			b.Run(fmt.Sprintf("passages=%d/%s", 3*records, c.name), func(b *testing.B) {
				queries := benchQueries(c.terms)
				var times []time.Duration
				for b.Loop() {
					q := queries[len(times)%len(queries)]
					q.Unit = c.unit
					start := time.Now()
					if _, err := e.Search(b.Context(), q, c.filter, c.k); err != nil {
						b.Fatal(err)
					}
					times = append(times, time.Since(start))
				}
				slices.Sort(times)
				b.ReportMetric(float64(times[len(times)/2].Microseconds()), "p50-µs")
				b.ReportMetric(float64(times[len(times)*99/100].Microseconds()), "p99-µs")
			})
		}
	}
}
