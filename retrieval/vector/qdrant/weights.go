package qdrant

import (
	"maps"
	"slices"

	"almanac/retrieval/analysis"
	"almanac/retrieval/analysis/bm25"
)

// averageLength of passages, in tokens as weighted. A term's weight in a passage
// is BM25's saturation on the weighted sums of its frequencies in the fields and
// of their lengths (BM25F); the server multiplies it by the IDF over its
// passages. The average is a constant: otherwise every passage would have to be
// rewritten when it changes.
const averageLength = 80

// weighting identifies the numbers of this file; it changes whenever they do.
const weighting = "1"

// fieldWeights are those of the embedded engine's passages.
var fieldWeights = [analysis.NumFields]float64{analysis.Title: 2, analysis.Heading: 1, analysis.Body: 1,
	analysis.Path: 0.5}

// weightsOf returns the sparse vector of a passage: its terms ascending, each
// once, with their weights.
func weightsOf(p analysis.Packed) (terms []uint32, weights []float32) {
	frequencies, length := map[uint32]float64{}, 0.0
	for f, weight := range fieldWeights {
		field := p.Field(analysis.Field(f))
		length += weight * float64(field.Len())
		for i := range field.Len() {
			frequencies[uint32(field.ID(i))] += weight
		}
	}
	terms = slices.Sorted(maps.Keys(frequencies))
	weights = make([]float32, len(terms))
	norm := bm25.Norm(bm25.K1, bm25.B, length, averageLength)
	for i, t := range terms {
		weights[i] = float32(bm25.Saturate(frequencies[t], bm25.K1, norm))
	}
	return terms, weights
}
