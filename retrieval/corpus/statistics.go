package corpus

import (
	"math"
	"time"

	"almanac/retrieval/analysis"
	"almanac/retrieval/analysis/bm25"
)

// Statistics are the corpus statistics for a query.
type Statistics struct {
	Documents     int
	Passages      int
	AverageLength [analysis.NumFields]float64 // of documents, in tokens
	PassageLength [analysis.NumFields]float64 // of passages, in tokens
	Newest        time.Time                   // end of the last day with a document, of the days until today
	terms         map[analysis.TermID]counts
}

// Statistics returns the corpus statistics with the frequencies of terms.
func (c *Corpus) Statistics(terms []analysis.TermID) Statistics {
	s := Statistics{Documents: int(c.sums.documents), Passages: int(c.sums.passages), Newest: c.days.newest(c.now()),
		terms: make(map[analysis.TermID]counts, len(terms))}
	for f := range analysis.NumFields {
		s.AverageLength[f] = float64(c.sums.lengths[f]) / math.Max(1, float64(s.Documents))
		s.PassageLength[f] = float64(c.sums.passageLengths[f]) / math.Max(1, float64(s.Passages))
	}
	for _, id := range terms {
		s.terms[id] = c.counts.of(id)
	}
	return s
}

// With returns the statistics with the terms of other ones added.
func (s Statistics) With(others Statistics) Statistics {
	for t, c := range others.terms {
		s.terms[t] = c
	}
	return s
}

// DocumentFrequency is the number of documents that hold the term.
func (s Statistics) DocumentFrequency(t analysis.TermID) int { return int(s.terms[t].documents) }

// IDF is ln(1 + (N − df + 0.5)/(df + 0.5)) over documents.
func (s Statistics) IDF(t analysis.TermID) float64 { return idf(s.Documents, s.terms[t].documents) }

// PassageIDF is the same over passages.
func (s Statistics) PassageIDF(t analysis.TermID) float64 {
	return idf(s.Passages, s.terms[t].passages)
}

// TitleIDF is the same over titles and paths.
func (s Statistics) TitleIDF(t analysis.TermID) float64 { return idf(s.Documents, s.terms[t].titles) }

func idf(n int, df int32) float64 { return bm25.IDF(n, int(df)) }
