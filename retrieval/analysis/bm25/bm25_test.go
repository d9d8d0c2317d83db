package bm25_test

import (
	"math"
	"testing"

	"almanac/retrieval/analysis/bm25"
)

func TestFormula(t *testing.T) {
	near := func(name string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 1e-9 {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
	near("the weight of a term of 2 in 3 documents", bm25.IDF(3, 2), math.Log(1.6))
	near("the weight of a term that all have", bm25.IDF(10, 10), math.Log(1+0.5/10.5))
	average := bm25.Norm(bm25.K1, bm25.B, 100, 100)
	near("the norm of a document of average length", average, 1.2)
	near("the norm of one of twice the length", bm25.Norm(bm25.K1, bm25.B, 200, 100), 1.2*1.75)
	near("one occurrence", bm25.Saturate(1, bm25.K1, average), 1)
	near("occurrences without end", bm25.Saturate(1e12, bm25.K1, average), 2.2)
}
