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
	passages []int // ordinals the retrievers found, best first
	features rerank.Vector
	z        rerank.Vector
	best     int
	lexical  bool
	score    float64
	alsoAt   []int64
	pin      *Place // that moved it; nil: none
	steps    []Node // what made the score, if it is to be explained
}

// maxCandidates is the number of records that are reranked. nDCG@10 of the
// judged collections is the same with twice as many; with two thirds it falls.
const maxCandidates = 300

// candidates fuses the lists, without what the operators leave out, and gathers
// what was found of each record.
func (s *search) candidates() []*candidate {
	lists := make([]fusion.List, len(s.lists))
	found := map[int64][]int{}
	allowed := s.allowed()
	for i, l := range s.lists {
		lists[i].Weight = l.list.Weight
		seen := make(map[int64]bool, len(l.hits))
		kept := 0
		for _, h := range l.hits {
			if !allowed(h.Record) {
				continue
			}
			if kept++; kept > l.list.Depth {
				break
			}
			if !seen[h.Record] {
				seen[h.Record] = true
				lists[i].Records = append(lists[i].Records, h.Record)
			}
			if h.Passage != whole && !slices.Contains(found[h.Record], h.Passage.Ordinal()) {
				found[h.Record] = append(found[h.Record], h.Passage.Ordinal())
			}
		}
	}
	fused := fusion.Reciprocal(lists, s.plan.Profile.RankK, maxCandidates)
	ids := make([]int64, len(fused))
	for i, c := range fused {
		ids[i] = c.Record
	}
	out := make([]*candidate, 0, len(fused))
	for i, d := range s.follower.Corpus().Documents(ids) {
		if d == nil || !s.plan.operators.allow(d) {
			continue // deleted or replaced since the engine found it
		}
		c := &candidate{Candidate: fused[i], document: d, passages: found[d.Record], score: fused[i].Score,
			lexical: true}
		c.passages = slices.DeleteFunc(c.passages, func(o int) bool { return o >= d.Len() })
		if len(c.passages) > 0 {
			c.best = c.passages[0]
		}
		out = append(out, c)
	}
	return out
}

// allowed returns whether the operators allow a record.
func (s *search) allowed() func(record int64) bool {
	if s.plan.operators.none() {
		return func(int64) bool { return true }
	}
	known := map[int64]bool{}
	return func(record int64) bool {
		is, ok := known[record]
		if !ok {
			d, indexed := s.follower.Corpus().Document(record)
			is = indexed && s.plan.operators.allow(d)
			known[record] = is
		}
		return is
	}
}

// unnamedPassages is how many of its first passages are scored for a candidate
// that was found only as a whole document; for the others, the retrievers named
// the passages worth scoring.
const unnamedPassages = 4

// gather selects the passages of the candidates to score, and gets their
// cosines with the query from the vector index.
func (s *search) gather(candidates []*candidate) []rerank.Candidate {
	in := make([]rerank.Candidate, len(candidates))
	var ids []passage.ID
	for i, c := range candidates {
		for o := 0; len(c.passages) == 0 && o < unnamedPassages && o < c.document.Len(); o++ {
			c.passages = append(c.passages, o)
		}
		in[i] = rerank.Candidate{Document: c.document, Passages: c.passages, Authority: s.authorityOf(c.document)}
		for _, o := range c.passages {
			ids = append(ids, passage.NewID(c.Record, o))
		}
	}
	if slices.Contains(s.degraded, vectorEngine) {
		return in
	}
	cosines, err := s.cosines(ids)
	if err != nil {
		s.without(vectorEngine)
		return in
	}
	for i := range in {
		n := len(in[i].Passages)
		in[i].Cosines, cosines = cosines[:n], cosines[n:]
	}
	return in
}

// steepness is the linear score at which a result is shown with 1/(1+1/e).
const steepness = 4

// rerank scores the candidates and orders them.
func (s *search) rerank(candidates []*candidate, in []rerank.Candidate) {
	model := s.plan.model()
	scored := rerank.Signals(s.plan.rerank, s.plan.statistics, in)
	for i, z := range rerank.Normalise(scored) {
		c := candidates[i]
		c.features, c.z, c.best, c.lexical = scored[i].Features, z, scored[i].Best, scored[i].Lexical
		c.score = model.Score(z, c.features)
	}
	slices.SortStableFunc(candidates, func(a, b *candidate) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.Record, b.Record))
	})
	// Clients get a number between 0 and 1; the order is the model's.
	for _, c := range candidates {
		linear := c.score
		c.score = 1 / (1 + math.Exp(-linear/steepness))
		if s.request.Explain {
			c.steps = []Node{s.plan.modelNode(c, linear)}
		}
	}
}

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
		return !c.lexical && c.features[rerank.Dense] < floor
	})
}
