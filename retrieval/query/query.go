// Package query parses what a user typed: operators, phrases, exclusions,
// terms, and the class that selects how it is searched.
//
// The language is small; anything outside it is text:
//
//	"exact words"     a phrase that must occur; an unbalanced quote is text
//	-word             leaves out what contains the word; the hyphen follows a
//	                  space and precedes a word of two letters or more, so that
//	                  --dump, -v, -1 and top-up are text
//	kind:a,b          only these kinds
//	source:a,b        only these sources
package query

import (
	"errors"
	"strings"

	"almanac/retrieval/analysis"
)

// ErrEmpty is returned for a query with nothing to search for.
var ErrEmpty = errors.New("the query has nothing to search for: type at least one word or number")

// MaxTerms is the number of distinct content terms of a query that are
// searched: the first ones, in the order typed.
const MaxTerms = 64

// Query is a parsed query.
type Query struct {
	Raw         string   // as typed, made valid UTF-8 without NUL
	Text        string   // without operators, exclusions and quotes of phrases
	Class       Class    //
	Terms       []Term   // distinct, in the order typed; parts of a compound follow it
	Phrases     [][]Term // each must match, at successive positions
	Exclude     []Term   // none may match
	Kinds       []string // of kind: operators, lower case, in the order typed
	Sources     []string // of source: operators, lower case, in the order typed
	Identifiers []string // terms of whole identifiers, outermost ones only
}

// Term is one term of a query.
type Term struct {
	Text       string          // as analysis spells it
	ID         analysis.TermID // of Text
	Weight     float64         // 1 as typed; less for the parts of an identifier
	Stop       bool            // a function word among content words: not scored
	Identifier bool            // a whole identifier, not a word or a part
	Word       string          // the word folded, not stemmed
	Position   int             // in Query.Text, as analysis counts
}

// Parse reads a query. The only error is ErrEmpty.
func Parse(raw string) (Query, error) {
	raw = strings.ReplaceAll(strings.ToValidUTF8(raw, " "), "\x00", " ")
	q := Query{Raw: raw}
	p := parts(raw)
	q.Text, q.Kinds, q.Sources = p.text, p.kinds, p.sources
	tokens := analysis.Analyze(q.Text)
	if len(tokens) == 0 && len(p.excluded) > 0 {
		// Exclusions alone would find nothing: take them as text.
		q.Text, p.excluded = strings.Join(p.excluded, " "), nil
		tokens = analysis.Analyze(q.Text)
	}
	if len(tokens) == 0 {
		return Query{}, ErrEmpty
	}
	words := wordsOf(q.Text, tokens)
	q.Terms, q.Identifiers = termsOf(words)
	for _, text := range p.phrases {
		if phrase := phraseOf(text); len(phrase) > 0 {
			q.Phrases = append(q.Phrases, phrase)
		}
	}
	for _, text := range p.excluded {
		q.Exclude = append(q.Exclude, outermost(text)...)
	}
	q.Class = classify(q.Text, words)
	return q, nil
}
