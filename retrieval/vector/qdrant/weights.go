package qdrant

import (
	"maps"
	"slices"

	"almanac/retrieval/analysis"
)

// A term's weight in a passage is BM25's saturation on the weighted sum of its
// frequencies in the fields (BM25F: Robertson and Zaragoza, "The Probabilistic
// Relevance Framework: BM25 and Beyond", 2009),
//
//	tf·(k1 + 1) / (tf + k1·(1 − b + b·length/averageLength))
//
// with the weighted sum of the fields' lengths. The server multiplies it by
// ln(1 + (n − df + 0.5)/(df + 0.5)) over its passages. The average is a
// constant: otherwise every passage would have to be rewritten when it changes.
const (
	k1 = 1.2
	b  = 0.75
	// averageLength is in tokens, as weighted.
	averageLength = 80
)

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
	norm := k1 * (1 - b + b*length/averageLength)
	for i, t := range terms {
		tf := frequencies[t]
		weights[i] = float32(tf * (k1 + 1) / (tf + norm))
	}
	return terms, weights
}
