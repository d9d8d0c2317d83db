// Package bm25 is the formula of BM25 (Robertson and Zaragoza, "The
// Probabilistic Relevance Framework: BM25 and Beyond", 2009): engines, sparse
// vectors and rerank signals differ in what they count, not in it.
package bm25

import "math"

// K1 (saturation of the term frequency) and B (how much the length is normalised) are
// the values of the literature. They are used where nothing better was measured.
const (
	K1 = 1.2
	B  = 0.75
)

// IDF is the weight of a term that df of n documents have, never negative:
//
//	ln(1 + (n − df + 0.5)/(df + 0.5))
func IDF(n, df int) float64 {
	return math.Log(1 + (float64(n)-float64(df)+0.5)/(float64(df)+0.5))
}

// Norm is what a term frequency is compared with in a document of the length:
// k1·(1 − b + b·length/average).
func Norm(k1, b, length, average float64) float64 { return k1 * (1 - b + b*length/average) }

// Saturate is the part of the score that a term frequency above 0 gives, from 0
// to k1 + 1:
//
//	tf·(k1 + 1) / (tf + norm)
func Saturate(tf, k1, norm float64) float64 { return tf * (k1 + 1) / (tf + norm) }
