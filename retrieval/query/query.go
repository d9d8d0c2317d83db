// Package query parses what a user typed: operators, phrases, exclusions,
// terms, and the class that selects how it is searched.
//
// The language is small; anything outside it is text:
//
//	"exact words"     a phrase that must occur; an unbalanced quote is text
//	-word             leaves out what contains the word, unless that writes -word
//	                  too; the hyphen follows a space and precedes a word of two
//	                  letters or more, so that --dump, -v, -1 and top-up are text
//	-"exact words"    leaves out what contains the phrase
//	kind:a,b          only these kinds
//	source:a,b        only these sources
//
// What was pasted has no exclusions by a hyphen alone: it has several lines, an option with
// two hyphens, or a path. Three lines have no operators at all. Source code and error messages
// have quotes of their own, and often the quoted part is what differs elsewhere, so that only
// one that is quoted as a whole is a phrase. A record that writes -word itself is about it, and
// is not left out.
package query

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"almanac/retrieval/analysis"
	"almanac/text/prose"
)

// ErrEmpty is returned for a query with nothing to search for.
var ErrEmpty = errors.New("the query has nothing to search for: type at least one word or number")

// ErrTooMany is wrapped by the error of a query with more operators than are
// checked; the error names the limit.
var ErrTooMany = errors.New("too many operators")

// ErrRefused is wrapped by the error of a query that excludes a kind, a source, a site or
// an address, which can only be asked for.
var ErrRefused = errors.New("kinds, sources, sites and addresses cannot be left out")

// Bounds of a query. Its first MaxTerms distinct content terms are searched;
// more phrases, words of a phrase or exclusions than these are an error, for
// none of them may be passed over.
const (
	MaxTerms       = 64
	MaxPhrases     = 8
	MaxPhraseWords = 32
	MaxExclusions  = 32
)

// MaxLength is the number of characters of a query that are searched for. The rest
// would be analysed and embedded but add no terms.
const MaxLength = 4_000

// Cut returns what is searched for of a query.
func Cut(raw string) string { return prose.First(raw, MaxLength) }

// Query is a parsed query.
type Query struct {
	Text    string   // without operators, exclusions and quotes of phrases
	Class   Class    //
	Terms   []Term   // distinct, in the order typed; parts of a compound follow it
	Phrases []Quoted // each must match, at successive positions
	Exclude []Quoted // none of which may match: a phrase as such, else any of the terms
	Kept    []string // words behind a hyphen that are text, as the query was pasted
	Kinds   []string // of kind: operators, lower case, in the order typed
	Sources []string // of source: operators, lower case, in the order typed
}

// Quoted is a part of the query that is to be taken literally.
type Quoted struct {
	Text   string // as typed, without hyphen, and without quotes if all are
	Terms  []Term
	Phrase bool // the terms are at successive positions
}

// Term is one term of a query.
type Term struct {
	Text       string          // as analysis spells it
	ID         analysis.TermID // of Text
	Weight     float64         // 1 as typed; less for the parts of an identifier
	Stop       bool            // a function word among content words: not scored
	Identifier bool            // a whole identifier, not a word or a part
	Coined     bool            // it, or a word in capitals
	Word       string          // the word folded, not stemmed
	Position   int             // in Query.Text, as analysis counts
	Again      []int           // further positions
}

// Parse reads a query. The errors are ErrEmpty, ErrTooMany and ErrRefused.
func Parse(raw string) (Query, error) {
	raw = clean(raw)
	p := splitAt(raw, false)
	q, err := parse(p)
	if err == nil && q.Class == Code && !p.quoted && len(q.Phrases) > 0 {
		p = splitAt(raw, true)
		q, err = parse(p)
	}
	if err != nil {
		return Query{}, err
	}
	if p.refused != "" {
		return q, fmt.Errorf("%w, as by %s: name those that are wanted, as in kind:cip,doc or source:forum", ErrRefused,
			p.refused)
	}
	return q, q.bounded()
}

// Plain reads a query that is text as a whole, without operators. The only error is
// ErrEmpty.
func Plain(raw string) (Query, error) { return parse(split{text: collapse(clean(raw))}) }

// clean returns valid UTF-8 without NUL.
func clean(raw string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(raw, " "), "\x00", " ")
}

func parse(p split) (Query, error) {
	var q Query
	q.Text, q.Kept, q.Kinds, q.Sources = p.text, p.kept, p.kinds, p.sources
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
	q.Terms = termsOf(words)
	for _, text := range p.phrases {
		if terms := phraseOf(text); len(terms) > 0 {
			q.Phrases = append(q.Phrases, Quoted{Text: collapse(text), Terms: terms, Phrase: true})
		}
	}
	for _, text := range p.excluded {
		x := Quoted{Text: text, Terms: outermost(text)}
		if x.Phrase = text[0] == '"'; x.Phrase {
			x.Terms = phraseOf(text)
		}
		q.Exclude = append(q.Exclude, x)
	}
	q.Class = classify(q.Text, words)
	return q, nil
}

// bounded returns ErrTooMany if the query has too many operators.
func (q Query) bounded() error {
	if n := len(q.Phrases); n > MaxPhrases {
		return fmt.Errorf("%w: it has %d phrases in quotes, and at most %d are searched", ErrTooMany, n, MaxPhrases)
	}
	for _, p := range slices.Concat(q.Phrases, q.Exclude) {
		if n := len(p.Terms); n > MaxPhraseWords {
			return fmt.Errorf("%w: a phrase in quotes has %d words, and may have %d: leave out the quotes or shorten it",
				ErrTooMany, n, MaxPhraseWords)
		}
	}
	if n := len(q.Exclude); n > MaxExclusions {
		return fmt.Errorf("%w: it excludes %d words, and may exclude %d", ErrTooMany, n, MaxExclusions)
	}
	return nil
}
