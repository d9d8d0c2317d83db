package embedded_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"testing"

	"almanac/retrieval/passage"
	"almanac/retrieval/vector/embedded"
)

// sizes are numbers of vectors; a million takes 2 GB and is left out unless
// ALMANAC_BENCH_LARGE is set.
func sizes() []int {
	if os.Getenv("ALMANAC_BENCH_LARGE") != "" {
		return []int{1_000, 10_000, 30_000, 100_000, 1_000_000}
	}
	return []int{1_000, 10_000, 30_000, 100_000}
}

func BenchmarkSearch(b *testing.B) {
	for _, n := range sizes() {
		vs := clustered(rand.New(rand.NewPCG(1, 2)), n+100, 256)
		queries := vs[:100]
		x := open(b, embedded.Config{Dimensions: 256})
		fill(b, x, vs[100:])
		run := func(name string, search func(q []float32) error) {
			b.Run(fmt.Sprintf("vectors=%d/%s", n, name), func(b *testing.B) {
				b.ReportAllocs()
				for i := 0; b.Loop(); i++ {
					if err := search(queries[i%len(queries)]); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
		for _, k := range []int{10, 200, 1000} {
			run(fmt.Sprintf("k=%d", k), func(q []float32) error {
				_, err := x.Search(b.Context(), q, passage.Filter{}, k)
				return err
			})
		}
		for name, kind := range map[string]string{"filter=1%": "doc", "filter=97%": "rare"} {
			run(name, func(q []float32) error {
				_, err := x.Search(b.Context(), q, passage.Filter{Kinds: []string{kind}}, 10)
				return err
			})
		}
		run("exact-scan", func(q []float32) error { x.SearchExactly(q, 10); return nil })
		b.Run(fmt.Sprintf("vectors=%d/recall", n), func(b *testing.B) {
			for b.Loop() {
				r := recalls(b, x, queries[:20], 10, 200)
				b.ReportMetric(r[0], "recall@10")
				b.ReportMetric(r[1], "recall@200")
			}
		})
	}
}
