package query

import "almanac/retrieval/analysis"

// Weights of terms for the same words: a compound and its parts are searched
// together, and together should count as one.
const (
	partWeight  = 0.2 // a part of an identifier
	wholeWeight = 0.5 // a compound of ordinary words: its parts count full
)

// word is a token of a query with its place in compounds.
type word struct {
	analysis.Token
	folded     string
	identifier bool // a coined name as a whole
	coined     bool // it, or a word in capitals
	inside     bool // part of an identifier
	compound   bool // has parts
}

// wordsOf finds the compounds among the tokens of a text: a token's parts
// follow it and lie within its span.
func wordsOf(text string, tokens []analysis.Token) []word {
	words := make([]word, len(tokens))
	end, named := -1, false // of the current outermost compound
	for i, t := range tokens {
		w := word{Token: t, folded: t.Word(text)}
		span := text[t.Start:t.End]
		w.compound = i+1 < len(tokens) && tokens[i+1].Start < t.End && tokens[i+1].End <= t.End
		if t.End > end {
			end, named = t.End, analysis.IsIdentifier(span)
			w.identifier, w.coined = named, analysis.IsCoined(span)
		} else {
			w.inside = named
			w.identifier = named && t.Start == words[i-1].Start && t.End == words[i-1].End && words[i-1].identifier
		}
		words[i] = w
	}
	return words
}

// weight returns what the word counts as a term.
func (w word) weight() float64 {
	switch {
	case w.identifier:
		return 1
	case w.inside:
		return partWeight
	case w.compound:
		return wholeWeight
	}
	return 1
}

// termsOf returns the distinct terms, the first MaxTerms that are not stop
// words and the stop words before them. If there are only stop words, they are
// content.
func termsOf(words []word) (terms []Term) {
	seen := make(map[string]int, len(words))
	content := 0
	for _, w := range words {
		if i, ok := seen[w.Term]; ok {
			t := &terms[i]
			t.Weight = max(t.Weight, w.weight())
			t.Identifier, t.Coined = t.Identifier || w.identifier, t.Coined || w.coined
			t.Again = append(t.Again, w.Position)
			continue
		}
		stop := analysis.IsStop(w.folded) && !w.identifier
		if !stop {
			if content == MaxTerms {
				break
			}
			content++
		}
		seen[w.Term] = len(terms)
		t := w.term()
		t.Stop = stop
		terms = append(terms, t)
	}
	if content == 0 {
		for i := range terms {
			terms[i].Stop = false
		}
	}
	return terms
}

func (w word) term() Term {
	return Term{Text: w.Term, ID: analysis.IDOf(w.Term), Weight: w.weight(), Identifier: w.identifier,
		Coined: w.coined, Word: w.folded, Position: w.Position}
}

// phraseOf returns one term for each position of a text: the one that documents
// have at that position in every spelling, which is a part where several
// positions are joined and the stem of the whole in camelCase.
func phraseOf(text string) []Term {
	var phrase []Term
	words := wordsOf(text, analysis.Analyze(text))
	for i := 0; i < len(words); {
		end := i + 1
		for end < len(words) && words[end].Position == words[i].Position {
			end++
		}
		for end < len(words) && i+1 < end && words[end].Start < words[i].End && words[end].End <= words[i].End {
			i++ // spans the next position too
		}
		if i+1 < end && words[i+1].Start == words[i].Start && words[i+1].End == words[i].End {
			i++
		}
		t := words[i].term()
		t.Weight = 1
		phrase = append(phrase, t)
		i = end
	}
	return phrase
}

// outermost returns the terms that span a word or, if it is several words, each of them.
func outermost(text string) []Term {
	var terms []Term
	start, end := 0, -1
	for _, w := range wordsOf(text, analysis.Analyze(text)) {
		if w.End <= end && (w.Start != start || w.End != end) {
			continue
		}
		start, end = w.Start, w.End
		t := w.term()
		t.Weight = 1
		terms = append(terms, t)
	}
	return terms
}
