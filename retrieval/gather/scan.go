package gather

import (
	"cmp"
	"slices"

	"almanac/retrieval/passage"
	"almanac/retrieval/profile"
	"almanac/retrieval/topk"
)

// corpusList is what stands in for the lists of engines on servers that are away
// or being filled: words found in the documents in memory. It costs nothing until
// then: the documents are there for the reranker.
var corpusList = profile.List{Retriever: "corpus", Weight: 1, Depth: maxCandidates}

// Located is the maximum of passages of a record among which the best is located.
const Located = 400

// scan returns the best k records by BM25 over the whole corpus, each with the
// passage where its words are. Its time goes with the number of records. The only
// error is that of the context.
func (f *Found) scan(k int) ([]Hit, error) {
	score := f.Plan.Scorer.Overlap()
	var top topk.Top[Hit]
	top.Reset(k, func(a, b Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Record, b.Record))
	})
	n := 0
	for d := range f.Plan.Corpus.All() {
		if n++; n%1024 == 0 && f.ctx.Err() != nil {
			return nil, f.ctx.Err()
		}
		x := score(d)
		if x == 0 || !f.Plan.Filter.Admits(d.Record, d.Attributes) || !f.Plan.Operators.Allow(d) {
			continue
		}
		top.Add(Hit{Record: d.Record, Score: x})
	}
	hits := top.Best()
	for i, h := range hits {
		d, _ := f.Plan.Corpus.Document(h.Record)
		ordinals := make([]int, min(d.Len(), Located))
		for o := range ordinals {
			ordinals[o] = o
		}
		if len(ordinals) == 0 {
			hits[i].Passage = Whole
			continue
		}
		scores := f.Plan.Scorer.Locate(d, ordinals, nil)
		hits[i].Passage = passage.NewID(h.Record, slices.Index(scores, slices.Max(scores)))
	}
	return hits, nil
}
