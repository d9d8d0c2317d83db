package retrieval

import (
	"cmp"
	"context"
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
}

// maxCandidates is the number of records that are reranked. nDCG@10 of the
// judged collections is the same with twice as many; with two thirds it falls.
const maxCandidates = 300

// candidates fuses the lists and gathers what was found of each record.
func (e *Engine) candidates(p *Plan, lists []ranked) []*candidate {
	fused := make([]fusion.List, len(lists))
	found := map[int64][]int{}
	for i, l := range lists {
		fused[i] = fusion.List{Name: l.list.Retriever, Weight: l.list.Weight}
		seen := make(map[int64]bool, len(l.hits))
		for _, h := range l.hits {
			if !seen[h.Record] {
				seen[h.Record] = true
				fused[i].Records = append(fused[i].Records, h.Record)
			}
			if h.Passage != whole && !slices.Contains(found[h.Record], h.Passage.Ordinal()) {
				found[h.Record] = append(found[h.Record], h.Passage.Ordinal())
			}
		}
	}
	joined := fusion.Reciprocal(fused, p.Profile.RankK, maxCandidates)
	ids := make([]int64, len(joined))
	for i, c := range joined {
		ids[i] = c.Record
	}
	out := make([]*candidate, 0, len(joined))
	for i, d := range e.follower.Corpus().Documents(ids) {
		if d == nil {
			continue // deleted since the engine found it
		}
		c := &candidate{Candidate: joined[i], document: d, passages: found[d.Record], score: joined[i].Score,
			lexical: true}
		c.passages = slices.DeleteFunc(c.passages, func(o int) bool { return o >= d.Len() })
		if len(c.passages) > 0 {
			c.best = c.passages[0]
		}
		out = append(out, c)
	}
	return out
}

// scanned is how many of its first passages are scored for a candidate that was
// found only as a whole document; for the others, the retrievers named the
// passages worth scoring.
const scanned = 4

// gather selects the passages of the candidates to score, and gets their
// cosines with the query from the vector index.
func (e *Engine) gather(ctx context.Context, p *Plan, candidates []*candidate,
	degraded []string) ([]rerank.Candidate, []string) {
	in := make([]rerank.Candidate, len(candidates))
	var ids []passage.ID
	for i, c := range candidates {
		for o := 0; len(c.passages) == 0 && o < scanned && o < c.document.Len(); o++ {
			c.passages = append(c.passages, o)
		}
		in[i] = rerank.Candidate{Document: c.document, Passages: c.passages, Authority: e.authorityOf(c.document)}
		for _, o := range c.passages {
			ids = append(ids, passage.NewID(c.Record, o))
		}
	}
	if !slices.Contains(degraded, vectorSide) {
		if cosines, err := e.cosines(ctx, p, ids); err != nil {
			degraded = without(degraded, vectorSide)
		} else {
			for i := range in {
				in[i].Cosines, cosines = cosines[:len(in[i].Passages)], cosines[len(in[i].Passages):]
			}
		}
	}
	return in, degraded
}

// rerank scores the candidates and orders them.
func (e *Engine) rerank(p *Plan, candidates []*candidate, in []rerank.Candidate) {
	model := p.model()
	scored := rerank.Signals(p.rerank, p.statistics, in)
	for i, z := range rerank.Normalise(scored) {
		c := candidates[i]
		c.features, c.z, c.best, c.lexical = scored[i].Features, z, scored[i].Best, scored[i].Lexical
		c.score = model.Score(z, c.features)
	}
	slices.SortStableFunc(candidates, func(a, b *candidate) int {
		if c := cmp.Compare(b.score, a.score); c != 0 {
			return c
		}
		return cmp.Compare(a.Record, b.Record)
	})
	// Clients get a number between 0 and 1; the order is the model's.
	for _, c := range candidates {
		c.score = 1 / (1 + math.Exp(-c.score/4))
	}
}

func (e *Engine) cosines(ctx context.Context, p *Plan, ids []passage.ID) ([]float32, error) {
	v, err := p.Vector(ctx)
	if err != nil {
		return nil, err
	}
	return ask(ctx, e.breakers.vector, func() ([]float32, error) { return e.vector.Scores(ctx, v, ids) })
}

// secondaryPenalty is how much less authority an unmerged draft, or a page of
// an old version, has than the text it may be a copy of.
const secondaryPenalty = 0.5

func (e *Engine) authorityOf(d *corpus.Document) float64 {
	a, ok := e.authority[d.Attributes.Source]
	if !ok {
		a = e.authority[d.Attributes.Kind]
	}
	if d.Secondary {
		a -= secondaryPenalty
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
