package retrieval

import (
	"cmp"
	"slices"
	"time"

	"almanac/retrieval/passage"
	"almanac/retrieval/profile"
	"almanac/retrieval/topk"
)

// corpusList is what stands in for the lists of engines on servers that are away
// or being filled: words found in the documents in memory.
var corpusList = profile.List{Retriever: "corpus", Weight: 1, Depth: maxCandidates}

// retrieveFromCorpus adds the list of a scan of the corpus. It costs nothing
// until then: the documents are there for the reranker.
func (s *search) retrieveFromCorpus() error {
	begun := time.Now()
	hits, err := s.scan(corpusList.Depth)
	if err != nil {
		return err
	}
	s.lists = append(s.lists, ranked{corpusList, hits})
	s.timings["retrieve/"+corpusList.Retriever] = time.Since(begun)
	return nil
}

// scan returns the best k records by BM25 over the whole corpus, each with the
// passage where its words are. Its time goes with the number of records. The only
// error is that of the context.
func (s *search) scan(k int) ([]Hit, error) {
	score := s.plan.scorer.Overlap()
	var top topk.Top[Hit]
	top.Reset(k, func(a, b Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Record, b.Record))
	})
	n := 0
	for d := range s.plan.corpus.All() {
		if n++; n%1024 == 0 && s.ctx.Err() != nil {
			return nil, s.ctx.Err()
		}
		x := score(d)
		if x == 0 || !s.plan.Filter.Admits(d.Record, d.Attributes) || !s.plan.operators.allow(d) {
			continue
		}
		top.Add(Hit{Record: d.Record, Score: x})
	}
	hits := top.Best()
	for i, h := range hits {
		d, _ := s.plan.corpus.Document(h.Record)
		ordinals := make([]int, min(d.Len(), located))
		for o := range ordinals {
			ordinals[o] = o
		}
		if len(ordinals) == 0 {
			hits[i].Passage = whole
			continue
		}
		scores := s.plan.scorer.Locate(d, ordinals, nil)
		hits[i].Passage = passage.NewID(h.Record, slices.Index(scores, slices.Max(scores)))
	}
	return hits, nil
}
