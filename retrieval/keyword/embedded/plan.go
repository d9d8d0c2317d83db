package embedded

import (
	"slices"

	"almanac/retrieval/analysis/bm25"
	"almanac/retrieval/bitset"
	"almanac/retrieval/keyword"
	"almanac/retrieval/passage"
)

// plan is a query against one searcher.
type plan struct {
	unit    keyword.Unit
	filter  passage.Filter
	terms   []scoredTerm
	phrases [][]keyword.Term
	accept  func(record int64) bool
	average float64 // length of the unit's documents
	c0, c1  float64 // see Scoring.norm
}

// scoredTerm is a term with its factor of every score.
type scoredTerm struct {
	scale   float64  // weight · idf · (k1+1), in scoreUnits
	numbers []uint32 // in the vocabulary of each segment, or noTerm
}

// newPlan weighs the terms of a query. Terms without a positive weight are left
// out; one that occurs twice counts twice. Phrases filter; their terms score if
// the query has no others.
func newPlan(s *searcher, scoring *Scoring, q *keyword.Query, f *passage.Filter) *plan {
	p := &plan{unit: q.Unit, filter: *f, accept: q.Accept, average: s.units[q.Unit].average}
	p.c0, p.c1 = scoring.norm(p.average)
	for _, phrase := range q.Phrases {
		if len(phrase) > 0 {
			p.phrases = append(p.phrases, phrase)
		}
	}
	weights := termWeights(q.Terms)
	if len(weights) == 0 {
		weights = termWeights(slices.Concat(p.phrases...))
	}
	n := s.units[q.Unit].docs
	factor := (scoring.K1 + 1) * scoreUnit
	numbers := make([]uint32, len(weights)*len(s.readers))
	for i, t := range weights {
		of := numbers[i*len(s.readers) : (i+1)*len(s.readers)]
		df := 0
		for at, r := range s.readers {
			of[at] = r.seg.terms.find(t.Text)
			df += r.documentFrequency(q.Unit, of[at])
		}
		if df > 0 {
			p.terms = append(p.terms, scoredTerm{t.Weight * bm25.IDF(n, df) * factor, of})
		}
	}
	return p
}

// termWeights joins equal terms.
func termWeights(terms []keyword.Term) []keyword.Term {
	var out []keyword.Term
	for _, t := range terms {
		w := min(t.Weight, maxTermWeight)
		if !(w > 0) || t.Text == "" {
			continue
		}
		i := slices.IndexFunc(out, func(o keyword.Term) bool { return o.Text == t.Text })
		if i < 0 {
			i = len(out)
			out = append(out, keyword.Term{Text: t.Text})
		}
		out[i].Weight = min(out[i].Weight+w, maxTermWeight)
	}
	return out
}

// segmentPlan is a plan against one segment.
type segmentPlan struct {
	*plan
	*segmentReader
	at       int // of the reader in the searcher
	postings *postings
	allowed  bitset.Set // nil = all
	drift    float64
}

// on prepares the plan for a segment, by its place in the searcher; it returns
// nil if none of its documents can match.
func (p *plan) on(at int, r *segmentReader) *segmentPlan {
	sp := &segmentPlan{plan: p, segmentReader: r, at: at, postings: &r.seg.units[p.unit], drift: 1}
	if p.average > 0 {
		sp.drift = min(1, sp.postings.average/p.average)
	}
	sp.allowed = r.filtered(p.unit, &p.filter)
	for _, phrase := range p.phrases {
		for _, t := range phrase {
			number := r.seg.terms.find(t.Text)
			if number == noTerm {
				return nil
			}
			set := sp.postings.set(number)
			if sp.allowed != nil {
				set.And(sp.allowed)
			}
			sp.allowed = set
		}
	}
	return sp
}

// cursors opens the lists of the plan's terms; the slice is reused.
func (sp *segmentPlan) cursors(dst []*cursor, pool *cursorPool) []*cursor {
	for _, t := range sp.terms {
		number := t.numbers[sp.at]
		if number == noTerm || sp.postings.df[number] == 0 {
			continue
		}
		c := pool.get()
		c.open(sp.postings, number)
		c.scale, c.c0, c.c1, c.drift = t.scale, sp.c0, sp.c1, sp.drift
		dst = append(dst, c)
	}
	return dst
}

// id returns the ids of a document for its hit.
func (sp *segmentPlan) id(doc int) (record int64, id passage.ID) {
	if sp.unit == keyword.Documents {
		return sp.seg.ids[doc], 0
	}
	return sp.seg.ids[sp.seg.recordOf[doc]], sp.seg.passageID(doc)
}
