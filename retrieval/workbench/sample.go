package workbench

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"almanac/catalog"
)

// The ways to choose queries out of those that were searched for.
const (
	SampleTop          = "top"          // the most frequent
	SampleRandom       = "random"       // each as likely as any other
	SampleProportional = "proportional" // each as likely as it is frequent
)

// Sample chooses n of counted queries without repeating one. Proportional to
// size is by weighted reservoir keys u^(1/frequency) (Efraimidis, Spirakis:
// Weighted random sampling with a reservoir, 2006). The same seed gives the same
// queries; they are returned most frequent first.
func Sample(counts []catalog.SearchCount, how string, n int, seed uint64) ([]catalog.SearchCount, error) {
	random := rand.New(rand.NewPCG(seed, uint64(len(counts))))
	keys := make(map[string]float64, len(counts))
	for _, c := range counts {
		u := random.Float64()
		switch how {
		case SampleTop:
			keys[c.Query] = float64(c.N)
		case SampleRandom:
			keys[c.Query] = u
		case SampleProportional:
			keys[c.Query] = math.Pow(u, 1/float64(max(1, c.N)))
		default:
			return nil, fmt.Errorf("eval: there is no way %q to sample queries", how)
		}
	}
	chosen := slices.SortedStableFunc(slices.Values(counts), func(a, b catalog.SearchCount) int {
		return cmp.Compare(keys[b.Query], keys[a.Query])
	})
	chosen = chosen[:min(max(0, n), len(chosen))]
	slices.SortStableFunc(chosen, func(a, b catalog.SearchCount) int { return b.N - a.N })
	return chosen, nil
}
