package retrieval

import (
	"slices"

	"almanac/retrieval/analysis"
	"almanac/retrieval/corpus"
	"almanac/retrieval/query"
	"almanac/retrieval/ranking"
)

// maxTerms bounds the terms of a query; longer ones are error logs whose first terms are enough.
const maxTerms = 64

// chains are linked lists of numbers, one for each key: the first number of every key,
// and after each number the next; −1 ends a list.
type chains struct{ first, next []int }

// chain makes the lists of the numbers that have keys, ascending.
func chain(keys int, of []int) chains {
	c := chains{slices.Repeat([]int{-1}, keys), make([]int, len(of))}
	for i, key := range slices.Backward(of) {
		c.first[key], c.next[i] = i, c.first[key]
	}
	return c
}

// scorer scores documents for one query. It is made once per search.
type scorer struct {
	terms    []query.Term
	ids      []analysis.TermID // distinct terms with weight, the index of all slices below
	idf      []float64         // over documents, times weight
	pidf     []float64         // over passages
	tidf     []float64         // over titles
	totalIDF float64
	typedIDF float64           // of words as typed, without parts of names and other readings
	wanted   []analysis.TermID // ids, and behind them those of stop words, each once
	which    []int             // of terms: index into wanted
	same     chains            // of wanted: the terms of the query that it is
	value    []float64         // of terms: value of a match in a run
	total    float64           // of value
	coined   []analysis.TermID // as typed
	trigrams *corpus.TrigramSet
	firsts   []int // of pairs of neighbouring weighted terms, indexes into ids
	pairIDF  []float64
	ending   chains // of ids: the pairs of which it is the second
	stats    corpus.Statistics
	rules    ranking.Rules
}

// newScorer prepares the scoring by terms in order of position, which have the statistics.
// The text is that of the query. The weight of a term is 0 if it is a stop word, which
// counts only in phrases, 1 as typed, and less for other readings.
func newScorer(text string, terms []query.Term, rules ranking.Rules, stats corpus.Statistics) *scorer {
	if len(terms) > maxTerms { // words that score come before those that only join phrases
		terms = slices.DeleteFunc(slices.Clone(terms), func(t query.Term) bool { return t.Weight <= 0 })
	}
	p := &scorer{terms: terms[:min(len(terms), maxTerms)], trigrams: corpus.NewTrigramSet(text), stats: stats,
		rules: rules}
	for _, t := range p.terms {
		if t.Weight > 0 && !slices.Contains(p.ids, t.ID) {
			p.ids = append(p.ids, t.ID)
			p.idf = append(p.idf, t.Weight*stats.IDF(t.ID))
			p.pidf = append(p.pidf, t.Weight*stats.PassageIDF(t.ID))
			p.tidf = append(p.tidf, t.Weight*stats.TitleIDF(t.ID))
			p.totalIDF += t.Weight * stats.IDF(t.ID)
			if t.Weight >= 1 {
				p.typedIDF += stats.IDF(t.ID)
			}
		}
	}
	p.wanted = slices.Clip(p.ids)
	var seconds []int // of pairs
	last := -1
	for _, t := range p.terms {
		at := slices.Index(p.wanted, t.ID)
		if at < 0 {
			at, p.wanted = len(p.wanted), append(p.wanted, t.ID)
		}
		p.which = append(p.which, at)
		v, weighs := 0.2, at < len(p.ids) // a stop word inside a run makes it literal
		if weighs {
			v = p.idf[at]
		}
		if t.Coined && t.Weight >= 1 && !slices.Contains(p.coined, t.ID) {
			p.coined = append(p.coined, t.ID)
		}
		p.value = append(p.value, v)
		p.total += v
		if weighs && at != last {
			if last >= 0 {
				p.firsts, seconds = append(p.firsts, last), append(seconds, at)
				p.pairIDF = append(p.pairIDF, min(p.idf[last], p.idf[at]))
			}
			last = at
		}
	}
	p.same, p.ending = chain(len(p.wanted), p.which), chain(len(p.ids), seconds)
	return p
}
