package rerank

import (
	"slices"

	"almanac/retrieval/analysis"
	"almanac/retrieval/corpus"
)

// Query holds what the signals need of a query.
type Query struct {
	Text  string // for character trigrams
	Terms []Term // in order of position
	// UndatedRecency is the recency of a document without a date; NamedInTitle what
	// an identifier in a title counts of one that the document owns.
	UndatedRecency, NamedInTitle float64
}

// Term is one analysed term of the query.
type Term struct {
	ID         analysis.TermID
	Position   int
	Weight     float64 // 0 for a stop word, which counts only in phrases; 1 as typed, less for corrections
	Identifier bool
}

// maxTerms bounds the terms of a query; longer ones are error logs whose first terms are enough.
const maxTerms = 64

// prepared is a query with its statistics, made once per search.
type prepared struct {
	terms    []Term
	ids      []analysis.TermID // distinct terms with weight, the index of all slices below
	weights  []float64
	idf      []float64 // over documents, times weight
	pidf     []float64 // over passages
	tidf     []float64 // over titles
	totalIDF float64
	slot     []int     // of terms: index into ids, −1 for a stop word without one
	value    []float64 // of terms: value of a match in a run
	total    float64   // of value
	trigrams []uint32
	pairs    [][2]int // neighbouring weighted terms, indexes into ids
	pairIDF  []float64
	stats    corpus.Statistics
	distinct []analysis.TermID // ids of terms, each once

	undatedRecency, namedInTitle float64
}

func prepare(q Query, stats corpus.Statistics) *prepared {
	terms := q.Terms
	if len(terms) > maxTerms { // words that score come before those that only join phrases
		terms = slices.DeleteFunc(slices.Clone(terms), func(t Term) bool { return t.Weight <= 0 })
	}
	p := &prepared{terms: terms[:min(len(terms), maxTerms)], trigrams: corpus.Trigrams(q.Text), stats: stats,
		undatedRecency: q.UndatedRecency, namedInTitle: q.NamedInTitle}
	at := map[analysis.TermID]int{}
	for _, t := range p.terms {
		if t.Weight <= 0 {
			continue
		}
		if _, ok := at[t.ID]; !ok {
			at[t.ID] = len(p.ids)
			p.ids = append(p.ids, t.ID)
			p.weights = append(p.weights, t.Weight)
			p.idf = append(p.idf, t.Weight*stats.IDF(t.ID))
			p.pidf = append(p.pidf, t.Weight*stats.PassageIDF(t.ID))
			p.tidf = append(p.tidf, t.Weight*stats.TitleIDF(t.ID))
			p.totalIDF += t.Weight * stats.IDF(t.ID)
		}
	}
	last := -1
	for _, t := range p.terms {
		slot, ok := at[t.ID]
		if !ok {
			slot = -1
		}
		p.slot = append(p.slot, slot)
		v := 0.2 // a stop word inside a run makes it literal
		if slot >= 0 {
			v = p.idf[slot]
		}
		p.value = append(p.value, v)
		p.total += v
		if slot >= 0 && slot != last {
			if last >= 0 {
				p.pairs = append(p.pairs, [2]int{last, slot})
				p.pairIDF = append(p.pairIDF, min(p.idf[last], p.idf[slot]))
			}
			last = slot
		}
	}
	for _, t := range p.terms {
		if !slices.Contains(p.distinct, t.ID) {
			p.distinct = append(p.distinct, t.ID)
		}
	}
	return p
}
