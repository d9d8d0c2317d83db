// Package retrieval answers a query: it parses and plans it, asks the
// retrievers of a profile at once, fuses their lists to candidates, scores
// every candidate by every signal, groups near-identical records and shows
// why each matched.
//
// It composes the stages below it, which import nothing of it; only
// retrieval/eval and retrieval/stack import retrieval. It knows no transport.
package retrieval
