// Package retrieval answers a query: it parses and plans it, runs the
// retrievers of a profile in parallel, fuses their lists to candidates, scores
// every candidate by every signal, groups near-identical records and shows why
// each matched.
//
// It composes the stages below it, which do not import it; only retrieval/eval
// and retrieval/stack import retrieval. It has no transport.
package retrieval
