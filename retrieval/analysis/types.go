// Package analysis turns text into terms: the one analyzer for indexing,
// queries, reranking and highlighting.
package analysis

import (
	"hash/fnv"
	"strings"
)

// Field is a part of a record that is analysed and weighted on its own.
type Field uint8

// The fields, in the order they are packed and weighted.
const (
	Title Field = iota
	Heading
	Body
	Path
	NumFields = 4
)

func (f Field) String() string { return [...]string{"title", "heading", "body", "path"}[f] }

// Token is one term of a text. Several tokens can share a position: an
// identifier is there whole and in its parts.
type Token struct {
	Term     string
	Position int // in tokens from the start of the text
	Start    int // byte offsets into the text
	End      int
}

// Word returns the word of a token of the text, folded and not stemmed, without
// possessive ending and apostrophes.
func (t Token) Word(text string) string {
	return strings.ReplaceAll(strings.TrimSuffix(Fold(text[t.Start:t.End]), "'s"), "'", "")
}

// TermID identifies a term where its spelling is not needed: packed
// passages, statistics, sparse vectors. It is a hash, so that no dictionary
// has to be shared between processes and stacks; with a million terms, two
// of them meet in a query of ten terms once in four hundred queries at most,
// and then only in one feature of the few passages that hold the other.
type TermID uint32

// IDOf returns the id of a term: 32-bit FNV-1a with a final mix.
func IDOf(term string) TermID {
	h := fnv.New32a()
	h.Write([]byte(term))
	x := h.Sum32()
	x ^= x >> 16
	x *= 0x7feb352d
	x ^= x >> 15
	x *= 0x846ca68b
	x ^= x >> 16
	return TermID(x)
}
