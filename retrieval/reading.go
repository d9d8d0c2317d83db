package retrieval

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"almanac/retrieval/analysis"
	"almanac/retrieval/index"
	"almanac/retrieval/keyword"
	"almanac/retrieval/query"
	"almanac/retrieval/rerank"
)

// A word of letters that hardly any document holds is also read as words that
// the index knows better: as the nearest one that begins with the same letter
// (two edits need eight letters), together with the word after it, cut in two,
// or by its stem where the ending is misspelt. Numbers and identifiers are
// never read as anything else.
const (
	correctFrom   = 5  // letters of a word that is corrected
	correctTwo    = 8  // letters of a word that is corrected at distance two
	correctMost   = 80 // bytes of a word that is corrected: longer ones are none, and take long
	correctRare   = 3  // documents that hold a word that is corrected
	correctFactor = 10 // how much more frequent what it is read as must be
	correctWeight = 0.8
	splitFrom     = 3  // letters of either half of a word that is cut in two
	splitHeld     = 10 // documents that hold either half
)

// reading is what a misspelt word, or two that belong together, is also read as.
type reading struct {
	words int      // of the query, from the misspelt one on
	terms []string // of the index
}

// correct adds the readings of words that the corpus hardly knows.
func (e *Engine) correct(p *Plan) {
	terms := p.Query.Terms
	for i, t := range terms {
		if !e.misspelt(p, t) {
			continue
		}
		read := reading{words: 2}
		if i+1 < len(terms) {
			read.terms = e.joined(p, t, terms[i+1])
		}
		if read.terms == nil && i > 0 {
			if read.terms = e.joined(p, terms[i-1], t); read.terms != nil {
				t = terms[i-1]
			}
		}
		if read.terms == nil {
			read = reading{1, e.respelt(p, t)}
		}
		if read.terms == nil {
			continue
		}
		p.corrected[t.Word] = read
		for _, term := range read.terms {
			p.add(e.follower.Table(), term, t.Position, correctWeight*t.Weight)
		}
	}
}

// add makes a term that was not typed part of the query.
func (p *Plan) add(table *index.Table, term string, position int, weight float64) {
	id := analysis.IDOf(term)
	p.statistics = p.statistics.With(table.Statistics([]analysis.TermID{id}))
	p.Keyword.Terms = append(p.Keyword.Terms, keyword.Term{Text: term, Weight: weight, Rarity: p.statistics.IDF(id)})
	p.rerank.Terms = append(p.rerank.Terms, rerank.Term{ID: id, Position: position, Weight: weight})
}

// misspelt reports whether a word is one that the corpus hardly knows. What
// counts less than a word typed is part of an identifier, or has parts that
// are looked at themselves.
func (e *Engine) misspelt(p *Plan, t query.Term) bool {
	return !t.Stop && t.Weight >= 1 && !t.Identifier && len(t.Word) <= correctMost && p.statistics.DocumentFrequency(t.ID) <= correctRare &&
		!strings.ContainsFunc(t.Word, func(r rune) bool { return !unicode.IsLetter(r) })
}

// joined reads a word and the one after it, of which one is misspelt, as one
// word: "wal let".
func (e *Engine) joined(p *Plan, t, next query.Term) []string {
	if next.Position != t.Position+1 || t.Identifier || next.Identifier || utf8.RuneCountInString(t.Word+next.Word) < correctFrom {
		return nil
	}
	rare := min(p.statistics.DocumentFrequency(t.ID), p.statistics.DocumentFrequency(next.ID))
	term := analysis.Stem(t.Word + next.Word)
	if df := e.documents(term); df > correctRare && df >= correctFactor*rare {
		return []string{term}
	}
	return nil
}

// respelt reads one word: as a neighbour at distance one, as two words, as a
// neighbour at distance two, as a stem with another ending.
func (e *Engine) respelt(p *Plan, t query.Term) []string {
	letters := []rune(t.Word)
	if len(letters) < correctFrom {
		return nil
	}
	df := p.statistics.DocumentFrequency(t.ID)
	best := index.Expansion{}
	for _, x := range e.follower.Table().Expand(t.Text, 16) {
		if x.Distance > 1 && len(letters) < correctTwo || x.Documents < correctFactor*df || first(x.Term) != first(t.Text) {
			continue
		}
		best = x // they come nearest first
		break
	}
	if best.Distance != 1 {
		if halves := e.split(letters, df); halves != nil {
			return halves
		}
	}
	if best.Term != "" {
		return []string{best.Term}
	}
	if stem := e.inflected(letters, df); stem != "" {
		return []string{stem}
	}
	return nil
}

// split reads a word as two that are well known, as "keyrotation"; of several
// cuts it takes the one whose rarer half is the most frequent.
func (e *Engine) split(letters []rune, df int) []string {
	var halves []string
	most := max(splitHeld, correctFactor*df) - 1
	for cut := splitFrom; cut <= len(letters)-splitFrom; cut++ {
		a, b := string(letters[:cut]), string(letters[cut:])
		if analysis.IsStop(a) || analysis.IsStop(b) {
			continue
		}
		a, b = analysis.Stem(a), analysis.Stem(b)
		if n := min(e.documents(a), e.documents(b)); n > most {
			most, halves = n, []string{a, b}
		}
	}
	return halves
}

// inflected finds the indexed stem of a word that is misspelt in its ending,
// where stemming did not reach: transactoin, governence.
func (e *Engine) inflected(letters []rune, df int) string {
	for cut := 1; cut <= 4 && len(letters)-cut >= correctFrom; cut++ {
		stem := analysis.Stem(string(letters[:len(letters)-cut]))
		if found := e.documents(stem); found > 0 && found >= correctFactor*df {
			return stem
		}
	}
	return ""
}

// documents is how many documents hold a term.
func (e *Engine) documents(term string) int {
	id := analysis.IDOf(term)
	return e.follower.Table().Statistics([]analysis.TermID{id}).DocumentFrequency(id)
}

func first(s string) rune {
	r, _ := utf8.DecodeRuneInString(s)
	return r
}

// corrected returns the query as it was read, with the words the index knows
// in the spelling of the results that hold them.
func corrected(p *Plan, results []Result) string {
	if len(p.corrected) == 0 {
		return ""
	}
	var b strings.Builder
	end := 0
	tokens := analysis.Analyze(p.Query.Text)
	for i, t := range tokens {
		read, ok := p.corrected[analysis.Fold(p.Query.Text[t.Start:t.End])]
		if !ok || t.Start < end {
			continue
		}
		b.WriteString(p.Query.Text[end:t.Start])
		for j, term := range read.terms {
			if j > 0 {
				b.WriteByte(' ')
			}
			b.WriteString(surface(term, results))
		}
		end = tokens[min(i+read.words, len(tokens))-1].End
	}
	b.WriteString(p.Query.Text[end:])
	return b.String()
}

// surface returns a term as a result spells it, or the term itself.
func surface(term string, results []Result) string {
	for _, r := range results {
		for _, s := range []string{r.Title, r.Snippet} {
			for _, t := range analysis.Analyze(s) {
				if t.Term == term {
					return strings.ToLower(s[t.Start:t.End])
				}
			}
		}
	}
	return term
}
