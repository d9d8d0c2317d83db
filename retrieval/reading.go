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
	"almanac/retrieval/rerank"
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
	correctWeight = 0.8
	splitFrom     = 3  // letters of either half of a word that is split
	splitHeld     = 10 // fewest documents that have either half
)

// reading is an alternative for a misspelt word, or for two that belong together.
type reading struct {
	typed []string // the words replaced, folded
	words []string // their replacement, folded
}

// correct adds the readings of words that are rare in the corpus.
func (e *Engine) correct(p *Plan) {
	terms := p.Query.Terms
	for i := 0; i < len(terms); i++ {
		t := terms[i]
		if !e.misspelt(p, t) {
			continue
		}
		var read reading
		position := t.Position
		if i+1 < len(terms) {
			read = e.joined(p, t, terms[i+1])
		}
		if read.words != nil {
			i++ // both are read
		} else if i > 0 {
			if read = e.joined(p, terms[i-1], t); read.words != nil {
				position = terms[i-1].Position
			}
		}
		if read.words == nil {
			read = reading{[]string{t.Word}, e.respelt(p, t)}
		}
		if read.words == nil {
			continue
		}
		p.readings = append(p.readings, read)
		for _, word := range read.words {
			p.add(e.follower.Corpus(), analysis.Stem(word), position, correctWeight*t.Weight)
		}
	}
}

// add makes a term that was not typed part of the query.
func (p *Plan) add(c *corpus.Corpus, term string, position int, weight float64) {
	id := analysis.IDOf(term)
	p.statistics = p.statistics.With(c.Statistics([]analysis.TermID{id}))
	p.Keyword.Terms = append(p.Keyword.Terms, keyword.Term{Text: term, Weight: weight, Rarity: p.statistics.IDF(id)})
	p.rerank.Terms = append(p.rerank.Terms, rerank.Term{ID: id, Position: position, Weight: weight})
}

// misspelt reports whether a word is rare in the corpus. A weight below that of
// a typed word marks a part of an identifier, or a word whose parts are checked
// separately.
func (e *Engine) misspelt(p *Plan, t query.Term) bool {
	return !t.Stop && t.Weight >= 1 && !t.Identifier && len(t.Word) <= correctMost &&
		p.statistics.DocumentFrequency(t.ID) <= correctRare &&
		!strings.ContainsFunc(t.Word, func(r rune) bool { return !unicode.IsLetter(r) })
}

// joined reads a word and the one after it, of which one is misspelt, as one
// word: "wal let".
func (e *Engine) joined(p *Plan, t, next query.Term) reading {
	whole := t.Word + next.Word
	if next.Position != t.Position+1 || t.Identifier || next.Identifier || utf8.RuneCountInString(whole) < correctFrom {
		return reading{}
	}
	rare := min(p.statistics.DocumentFrequency(t.ID), p.statistics.DocumentFrequency(next.ID))
	if df := e.documents(whole); df <= correctRare || df < correctFactor*rare {
		return reading{}
	}
	return reading{[]string{t.Word, next.Word}, []string{whole}}
}

// respelt reads one word as a neighbour at distance one, as two words, or as a
// neighbour at distance two.
func (e *Engine) respelt(p *Plan, t query.Term) []string {
	letters := []rune(t.Word)
	if len(letters) < correctFrom || e.isWord(t.Word) {
		return nil
	}
	df := p.statistics.DocumentFrequency(t.ID)
	best := corpus.Expansion{}
	for _, x := range e.follower.Corpus().Expand(t.Word, 16) {
		if x.Distance > 1 && len(letters) < correctTwo || x.Documents < correctFactor*df ||
			first(x.Word) != letters[0] {
			continue
		}
		best = x // the nearest come first
		break
	}
	if best.Distance != 1 {
		if halves := e.split(letters, df); halves != nil {
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
func (e *Engine) split(letters []rune, df int) []string {
	var halves []string
	most := max(splitHeld, correctFactor*df) - 1
	for cut := splitFrom; cut <= len(letters)-splitFrom; cut++ {
		a, b := string(letters[:cut]), string(letters[cut:])
		if analysis.IsStop(a) || analysis.IsStop(b) {
			continue
		}
		if n := min(e.documents(a), e.documents(b)); n > most {
			most, halves = n, []string{a, b}
		}
	}
	return halves
}

// documents returns how many documents have a word in any of its forms.
func (e *Engine) documents(word string) int {
	id := analysis.IDOf(analysis.Stem(word))
	return e.follower.Corpus().Statistics([]analysis.TermID{id}).DocumentFrequency(id)
}

func first(s string) rune {
	r, _ := utf8.DecodeRuneInString(s)
	return r
}

// corrected returns the query with its readings in place of the typed words; "" if there are none.
func (p *Plan) corrected() string {
	if len(p.readings) == 0 {
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
		at := slices.IndexFunc(p.readings, func(r reading) bool {
			n := min(i+len(r.typed), len(tokens))
			return slices.EqualFunc(tokens[i:n], r.typed,
				func(t analysis.Token, word string) bool { return t.Word(text) == word })
		})
		if at < 0 {
			continue
		}
		read := p.readings[at]
		b.WriteString(text[end:t.Start])
		b.WriteString(strings.Join(read.words, " "))
		end = tokens[i+len(read.typed)-1].End
	}
	b.WriteString(text[end:])
	return b.String()
}
