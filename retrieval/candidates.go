package retrieval

import (
	"cmp"
	"math"
	"slices"

	"almanac/retrieval/corpus"
	"almanac/retrieval/fusion"
	"almanac/retrieval/passage"
	"almanac/retrieval/rerank"
)

// candidate is a record on its way through a search.
type candidate struct {
	fusion.Candidate
	document *corpus.Document
	passages []int          // ordinals the retrievers found, best first
	scored   *rerank.Scored // signals, and as z-scores; nil if the profile does not rerank
	z        *rerank.Vector
	best     int
	further  []int        // ordinals of those that answer next best, of what is shown whole
	posts    []*candidate // others of its thread, shown with it, best first
	lexical  bool
	linear   float64 // score of the linear model
	score    float64 // as shown
	alsoAt   []int64
	pin      *Place // that moved it; nil: none

	steps []Node  // what later stages added to the score, if it is to be explained
	noted float64 // the score with these
}

// maxCandidates is the number of records that are reranked. nDCG@10 of the
// judged collections is the same with twice as many; with two thirds it falls.
const maxCandidates = 300

// candidates fuses the lists, without what the operators leave out, and gathers
// what was found of each record.
func (s *search) candidates() []*candidate {
	lists := s.allowedLists()
	m := s.memory
	fused := m.fusion.Reciprocal(lists, s.plan.Profile.RankK, maxCandidates)
	m.fused = m.fused[:0]
	for _, c := range fused {
		m.fused = append(m.fused, c.Record)
	}
	// What an engine found may have been deleted or replaced since.
	m.documents = s.plan.corpus.AppendDocuments(m.documents[:0], m.fused)
	const few = 4 // passages of most candidates
	m.candidates, m.passages = sized(m.candidates, len(fused)), sized(m.passages, few*len(fused))
	out, of := m.order[:0], m.of
	at := 0
	for i := range m.documents {
		d := &m.documents[i]
		for fused[at].Record != d.Record {
			at++
		}
		if !s.plan.operators.allow(d) {
			continue
		}
		m.candidates[i] = candidate{Candidate: fused[at], document: d, passages: m.passages[few*i : few*i : few*i+few],
			score: fused[at].Score, lexical: true}
		out, of[d.Record] = append(out, &m.candidates[i]), &m.candidates[i]
	}
	m.order = out
	for _, l := range s.lists {
		for _, h := range l.hits {
			c := of[h.Record]
			if c == nil || h.Passage == whole {
				continue
			}
			if o := h.Passage.Ordinal(); o < c.document.Len() && !slices.Contains(c.passages, o) {
				c.passages = append(c.passages, o)
				c.best = c.passages[0]
			}
		}
	}
	return out
}

// allowedLists returns the records of each list that the operators allow, as
// many as the profile wants hits.
func (s *search) allowedLists() []fusion.List {
	lists := make([]fusion.List, len(s.lists))
	for i := range s.lists {
		l := &s.lists[i]
		if s.plan.allowed != nil {
			l.hits = slices.DeleteFunc(l.hits, func(h Hit) bool { return !s.plan.allowed(h.Record) })
			l.hits = l.hits[:min(len(l.hits), l.list.Depth)]
		}
		lists[i] = fusion.List{Weight: l.list.Weight, Records: make([]int64, len(l.hits))}
		for j, h := range l.hits {
			lists[i].Records[j] = h.Record
		}
	}
	return lists
}

// unnamedPassages is how many of its first passages are scored for a candidate
// that was found only as a whole document; for the others, the retrievers named
// the passages worth scoring.
const unnamedPassages = 4

// gather selects the passages of the candidates to score, and gets their
// cosines with the query from the vector index.
func (s *search) gather(candidates []*candidate) []rerank.Candidate {
	in, ids := sized(s.memory.in, len(candidates)), s.memory.asked[:0]
	for i, c := range candidates {
		for o := 0; len(c.passages) == 0 && o < unnamedPassages && o < c.document.Len(); o++ {
			c.passages = append(c.passages, o)
		}
		in[i] = rerank.Candidate{Document: c.document, Passages: c.passages, Authority: s.authorityOf(c.document)}
		for _, o := range c.passages {
			ids = append(ids, passage.NewID(c.Record, o))
		}
	}
	s.memory.in, s.memory.asked = in, ids
	if slices.Contains(s.degraded, vectorEngine) {
		return in
	}
	cosines := sized(s.memory.cosines, len(ids))
	s.memory.cosines = cosines
	if err := s.cosinesOf(ids, cosines); err != nil {
		s.without(vectorEngine)
		return in
	}
	for i := range in {
		n := len(in[i].Passages)
		in[i].Cosines, cosines = cosines[:n], cosines[n:]
	}
	return in
}

// steepness is the linear score that is shown as 1/(1+1/e).
const steepness = 4

// rerank scores the candidates and orders them.
func (s *search) rerank(candidates []*candidate, in []rerank.Candidate) {
	model := s.plan.model()
	m := s.memory
	m.scored = s.plan.scorer.AppendSignals(m.scored[:0], in)
	m.normalised = rerank.AppendNormalised(m.normalised[:0], m.scored)
	for i, c := range candidates {
		c.scored, c.z = &m.scored[i], &m.normalised[i]
		c.best, c.lexical = c.scored.Best, c.scored.Lexical
		c.linear = model.Score(*c.z, c.scored.Features)
		c.score = logistic(c.linear)
		c.steps, c.noted = nil, c.score
	}
	slices.SortFunc(candidates, func(a, b *candidate) int {
		return cmp.Or(cmp.Compare(b.linear, a.linear), cmp.Compare(a.Record, b.Record))
	})
}

// logistic maps a linear score to the number between 0 and 1 that clients get.
func logistic(linear float64) float64 { return 1 / (1 + math.Exp(-linear/steepness)) }

func (s *search) authorityOf(d *corpus.Document) float64 {
	a, ok := s.authority[d.Attributes.Source]
	if !ok {
		a = s.authority[d.Attributes.Kind]
	}
	if d.Secondary {
		a -= s.plan.Profile.Rules.SecondaryPenalty
	}
	return a
}

// aboveFloor drops neighbours that share no word with the query and are not
// near either, so that a search can have no results.
func aboveFloor(candidates []*candidate, floor float64) []*candidate {
	return slices.DeleteFunc(candidates, func(c *candidate) bool {
		return !c.lexical && c.scored.Features[rerank.Dense] < floor
	})
}
