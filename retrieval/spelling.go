package retrieval

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"almanac/retrieval/analysis"
	"almanac/retrieval/corpus"
	"almanac/retrieval/keyword"
	"almanac/retrieval/query"
)

// A word of letters that hardly any document has is also read as words more
// frequent in the index: as the nearest one that begins with the same letter
// (two edits need eight letters), joined with the next word, or split in two.
// Numbers, identifiers and known words of the language are never respelt.
const (
	correctFrom   = 5  // letters of a word that is corrected
	correctTwo    = 8  // letters of a word that is corrected at distance two
	correctMost   = 80 // bytes of a word that is corrected: longer ones are not words, and slow
	correctRare   = 3  // most documents that have a word that is corrected
	correctFactor = 10 // how much more frequent its reading must be
	splitFrom     = 3  // letters of either half of a word that is split
	splitHeld     = 10 // fewest documents that have either half
)

// correction is another reading of a misspelt word, or of two that belong together.
type correction struct {
	typed     []string // words, folded
	suggested []string // in their place
}

// correct adds the corrections of words that are rare in the corpus.
func (p *plan) correct() {
	terms := p.Query.Terms
	for i := 0; i < len(terms); i++ {
		t := terms[i]
		if t.Word == p.completion.word || !p.misspelt(t) {
			continue
		}
		var c correction
		position := t.Position
		if i+1 < len(terms) {
			c = p.compound(t, terms[i+1])
		}
		if c.suggested != nil {
			i++ // both are read
		} else if i > 0 {
			if c = p.compound(terms[i-1], t); c.suggested != nil {
				position = terms[i-1].Position
			}
		}
		if c.suggested == nil {
			c = correction{[]string{t.Word}, p.suggest(t)}
		}
		if c.suggested == nil {
			continue
		}
		p.corrections = append(p.corrections, c)
		for _, word := range c.suggested {
			p.add(analysis.Stem(word), position, p.Profile.Rules.CorrectionWeight*t.Weight)
		}
	}
}

// Texts in scripts without spaces are indexed in pairs of characters, so a character
// that was typed alone is also read as the pairs that it stands in. Of one that stands
// in very many, each further pair would cost much and find little.
const pairs = 32

// pair adds the pairs of characters that were typed alone.
func (p *plan) pair() {
	for _, t := range p.Query.Terms {
		if !alone(t.Word) {
			continue
		}
		for _, x := range p.Corpus.Containing(t.Word, pairs) {
			p.pairs = append(p.pairs, x.Word)
			p.add(x.Word, t.Position, p.Profile.Rules.CorrectionWeight*t.Weight)
		}
	}
}

// alone reports whether a word is a single character of a script without spaces, with
// its marks.
func alone(word string) bool {
	r, size := utf8.DecodeRuneInString(word)
	return analysis.Unspaced(r) && !strings.ContainsFunc(word[size:], func(r rune) bool { return !unicode.IsMark(r) })
}

// untypedPosition is that of words that were not typed: after all typed ones.
const untypedPosition = 1 << 20

// add makes a term that was not typed part of the query.
func (p *plan) add(term string, position int, weight float64) {
	id := analysis.IDOf(term)
	p.Statistics = p.Statistics.With(p.Corpus.Statistics([]analysis.TermID{id}))
	p.Keyword.Terms = append(p.Keyword.Terms, keyword.Term{Text: term, Weight: weight, Rarity: p.Statistics.IDF(id)})
	p.scored = append(p.scored, query.Term{ID: id, Position: position, Weight: weight})
}

// misspelt reports whether a word is rare in the corpus. A weight below that of
// a typed word marks a part of an identifier, or a word whose parts are checked
// separately.
func (p *plan) misspelt(t query.Term) bool {
	return !t.Stop && t.Weight >= 1 && !t.Identifier && len(t.Word) <= correctMost &&
		p.Statistics.DocumentFrequency(t.ID) <= correctRare &&
		!strings.ContainsFunc(t.Word, func(r rune) bool { return !unicode.IsLetter(r) })
}

// compound reads a word and the one after it, of which one is misspelt, as one
// word: "wal let".
func (p *plan) compound(t, next query.Term) correction {
	whole := t.Word + next.Word
	if next.Position != t.Position+1 || t.Identifier || next.Identifier || utf8.RuneCountInString(whole) < correctFrom {
		return correction{}
	}
	rare := min(p.Statistics.DocumentFrequency(t.ID), p.Statistics.DocumentFrequency(next.ID))
	if df := p.documents(whole); df <= correctRare || df < correctFactor*rare {
		return correction{}
	}
	return correction{[]string{t.Word, next.Word}, []string{whole}}
}

// suggest reads one word as a neighbour at distance one, as two words, or as a
// neighbour at distance two.
func (p *plan) suggest(t query.Term) []string {
	letters := []rune(t.Word)
	if len(letters) < correctFrom || p.IsWord(t.Word) {
		return nil
	}
	df := p.Statistics.DocumentFrequency(t.ID)
	best := corpus.Expansion{}
	for _, x := range p.Corpus.Expand(t.Word, 16) {
		if x.Distance > 1 && len(letters) < correctTwo || x.Documents < correctFactor*df ||
			first(x.Word) != letters[0] {
			continue
		}
		best = x // the nearest come first
		break
	}
	if best.Distance != 1 {
		if halves := p.split(letters, df); halves != nil {
			return halves
		}
	}
	if best.Word == "" {
		return nil
	}
	return []string{best.Word}
}

// split reads a word such as "keyrotation" as two frequent ones; of several
// splits it takes the one whose rarer half is the most frequent.
func (p *plan) split(letters []rune, df int) []string {
	var halves []string
	most := max(splitHeld, correctFactor*df) - 1
	for cut := splitFrom; cut <= len(letters)-splitFrom; cut++ {
		a, b := string(letters[:cut]), string(letters[cut:])
		if analysis.IsStop(a) || analysis.IsStop(b) {
			continue
		}
		if n := min(p.documents(a), p.documents(b)); n > most {
			most, halves = n, []string{a, b}
		}
	}
	return halves
}

// documents returns how many documents have a word in any of its forms.
func (p *plan) documents(word string) int {
	id := analysis.IDOf(analysis.Stem(word))
	return p.Corpus.Statistics([]analysis.TermID{id}).DocumentFrequency(id)
}

func first(s string) rune {
	r, _ := utf8.DecodeRuneInString(s)
	return r
}

// Corrected returns the query with its corrections in place of the typed words; "" if there are none.
func (p *plan) Corrected() string {
	if len(p.corrections) == 0 {
		return ""
	}
	text := p.Query.Text
	var b strings.Builder
	end := 0
	tokens := analysis.Analyze(text)
	for i, t := range tokens {
		if t.Start < end {
			continue
		}
		at := slices.IndexFunc(p.corrections, func(c correction) bool {
			n := min(i+len(c.typed), len(tokens))
			return slices.EqualFunc(tokens[i:n], c.typed,
				func(t analysis.Token, word string) bool { return t.Word(text) == word })
		})
		if at < 0 {
			continue
		}
		c := p.corrections[at]
		b.WriteString(text[end:t.Start])
		b.WriteString(strings.Join(c.suggested, " "))
		end = tokens[i+len(c.typed)-1].End
	}
	b.WriteString(text[end:])
	return b.String()
}

// Unknown returns the words, folded, that are searched for and that no document has, spelt as
// they are or corrected, and no alias replaces. Characters of scripts without spaces are no
// words: they are searched for in pairs. While somebody types, nothing is said.
func (p *plan) Unknown() (words []string) {
	if p.Request.Typing {
		return nil
	}
	for _, t := range p.Query.Terms {
		read := func(c correction) bool { return slices.Contains(c.typed, t.Word) }
		known := func(o query.Term) bool { return o.Word == t.Word && p.Statistics.DocumentFrequency(o.ID) > 0 }
		if t.Stop || t.Weight < 1 || analysis.Unspaced(first(t.Word)) || slices.Contains(words, t.Word) ||
			slices.ContainsFunc(p.Query.Terms, known) || slices.ContainsFunc(p.corrections, read) ||
			len(p.set.Alternatives([]query.Term{t}, 1)) > 0 {
			continue
		}
		words = append(words, t.Word)
	}
	return words
}

// Meant reports whether the query has a word that some document has, or that is known to
// be one, besides function words: of anything else a model has a vector too, which lies
// near every text. A character of a script without spaces is a word.
func (p *plan) Meant() bool {
	return len(p.corrections) > 0 || p.Unfinished() || slices.ContainsFunc(p.Query.Terms, func(t query.Term) bool {
		return !analysis.IsStop(t.Word) && (analysis.Unspaced(first(t.Word)) || p.IsWord(t.Word) ||
			p.Statistics.DocumentFrequency(t.ID) > 0 || len(p.set.Alternatives([]query.Term{t}, 1)) > 0)
	})
}

// Highlighted returns the query as it is highlighted: corrections and what its last
// word may become like the words they stand for.
func (p *plan) Highlighted() query.Query {
	q := p.Query
	q.Terms = slices.Clip(q.Terms)
	for _, c := range p.corrections {
		for _, w := range c.suggested {
			term := analysis.Stem(w)
			q.Terms = append(q.Terms, query.Term{Text: term, ID: analysis.IDOf(term),
				Weight: p.Profile.Rules.CorrectionWeight, Word: w})
		}
	}
	for _, w := range p.pairs {
		q.Terms = append(q.Terms, query.Term{Text: w, ID: analysis.IDOf(w),
			Weight: p.Profile.Rules.CorrectionWeight, Word: w})
	}
	for _, x := range p.completion.words {
		term := analysis.Stem(x.Word)
		q.Terms = append(q.Terms, query.Term{Text: term, ID: analysis.IDOf(term),
			Weight: p.Profile.Rules.CorrectionWeight, Word: x.Word})
	}
	return q
}
