package rerank

import (
	"math"

	"almanac/retrieval/analysis"
	"almanac/retrieval/analysis/bm25"
	"almanac/retrieval/corpus"
)

// nearness is what a cosine of 1 is worth in Locate, as a share of the query's
// IDF.
const nearness = 0.5

// Locate scores the passages of one document, of the given ordinals, by how
// well each answers the query. Unlike AppendSignals, which compares documents, it
// weighs a term by its rarity in this document too, and not in the title: what
// all passages say tells nothing about where the answer is. cosines are those
// of the passages, nil without a dense side.
func (p *Scorer) Locate(d *corpus.Document, ordinals []int, cosines []float32) []float64 {
	var s scan
	s.document(p, d)
	tfs := make([]float64, len(ordinals)*len(p.ids)) // by ordinal, then by term
	scores, df := make([]float64, len(ordinals)), make([]float64, len(p.ids))
	for i, o := range ordinals {
		s.passage(p, d.Terms(o))
		for t := range p.ids {
			tf := float64(s.tf[t][analysis.Body]) + headFieldTF*float64(s.tf[t][analysis.Heading])
			if tf > 0 {
				df[t]++
			}
			tfs[i*len(p.ids)+t] = tf
		}
		scores[i] = s.run + s.window + p.defines(d, o)
		if cosines != nil {
			scores[i] += nearness * p.totalIDF * math.Max(0, float64(cosines[i]))
		}
	}
	n := float64(len(ordinals))
	average := p.stats.PassageLength[analysis.Heading] + p.stats.PassageLength[analysis.Body]
	for i, o := range ordinals {
		terms := d.Terms(o)
		length := float64(terms.Field(analysis.Heading).Len() + terms.Field(analysis.Body).Len())
		norm := norm(length, average, documentB)
		for t, tf := range tfs[i*len(p.ids):][:len(p.ids)] {
			rarity := math.Log1p((n-df[t]+0.5)/(df[t]+0.5)) / math.Log1p((n-0.5)/1.5)
			scores[i] += p.pidf[t] * rarity * bm25.Saturate(tf, bm25.K1, norm)
		}
	}
	return scores
}
