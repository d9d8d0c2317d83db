package dedup_test

import (
	"math/rand/v2"
	"testing"

	"almanac/retrieval/analysis"
	"almanac/retrieval/dedup"
)

// text returns n random terms; edit replaces every term with probability p.
func text(r *rand.Rand, n int) []analysis.TermID {
	out := make([]analysis.TermID, n)
	for i := range out {
		out[i] = analysis.TermID(r.Uint32())
	}
	return out
}

func edit(r *rand.Rand, in []analysis.TermID, p float64) []analysis.TermID {
	out := append([]analysis.TermID(nil), in...)
	for i := range out {
		if r.Float64() < p {
			out[i] = analysis.TermID(r.Uint32())
		}
	}
	return out
}

func TestSameIsTheSimilarityCompared(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 2000 {
		a := text(r, 20+r.IntN(200))
		b := edit(r, a, r.Float64()*0.1)
		b = b[:len(b)-r.IntN(len(b)/2)]
		x, y, least := dedup.Sign(a), dedup.Sign(b), r.Float64()
		if got, want := dedup.Same(x, y, least), dedup.Similarity(x, y) >= least; got != want {
			t.Fatalf("Same at %v is %v of similarity %v", least, got, dedup.Similarity(x, y))
		}
	}
}

func TestSimilarity(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	long, short := text(r, 500), text(r, 10)
	swapped := append([]analysis.TermID(nil), short...)
	swapped[0], swapped[1] = swapped[1], swapped[0]
	tests := []struct {
		name string
		a, b []analysis.TermID
		want float64
	}{
		{"a text equals itself", long, long, 1},
		{"other words share nothing", long, text(r, 500), 0},
		{"short texts are the same only if equal", short, short, 1},
		{"short texts in another order are not", short, swapped, 0},
		{"an excerpt is no copy", long, long[:150], 0},
		{"two empty texts are equal", nil, nil, 1},
		{"an empty text is no copy of another", nil, long, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := dedup.Similarity(dedup.Sign(tt.a), dedup.Sign(tt.b)); got != tt.want {
				t.Errorf("Similarity = %v, want %v", got, tt.want)
			}
		})
	}
}
