package retrieval

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"almanac/embed"
	"almanac/retrieval/analysis"
	"almanac/retrieval/keyword"
	"almanac/retrieval/passage"
	"almanac/retrieval/ranking"
	"almanac/retrieval/topk"
	"almanac/retrieval/vector"
)

// wholeRecord is the passage of a hit that was found as a whole.
const wholeRecord passage.ID = -1

// recordsOf returns the records of hits.
func recordsOf(hits []keyword.Hit) []int64 {
	out := make([]int64, len(hits))
	for i, h := range hits {
		out[i] = h.Record
	}
	return out
}

// retriever finds up to k hits by one kind of evidence, best first.
type retriever func(ctx context.Context, r *run, k int) ([]keyword.Hit, error)

// lexical searches a keyword engine for passages or documents.
func lexical(engine keyword.Engine, unit keyword.Unit) retriever {
	return func(ctx context.Context, r *run, k int) ([]keyword.Hit, error) {
		q := r.Plan.Keyword
		q.Unit, q.Terms = unit, r.Plan.Held()
		hits, err := ask(ctx, r.uses[engineKeyword],
			func(ctx context.Context) ([]keyword.Hit, error) { return engine.Search(ctx, q, r.Plan.Filter, k) })
		if unit == keyword.Documents {
			for i := range hits {
				hits[i].Passage = wholeRecord
			}
		}
		return hits, err
	}
}

// nearest searches a vector engine for the nearest passages.
func nearest(index vector.Index) retriever {
	return func(ctx context.Context, r *run, k int) ([]keyword.Hit, error) {
		v, err := r.vector(ctx)
		if err != nil {
			return nil, err
		}
		hits, err := ask(ctx, r.uses[engineVector],
			func(ctx context.Context) ([]vector.Hit, error) { return index.Search(ctx, v, r.Plan.Filter, k) })
		return ofVectors(hits), err
	}
}

// sparse searches a vector engine for passages by their terms.
func sparse(index vector.Sparse) retriever {
	return func(ctx context.Context, r *run, k int) ([]keyword.Hit, error) {
		var terms []vector.Term
		for _, t := range r.Plan.Held() {
			terms = append(terms, vector.Term{ID: analysis.IDOf(t.Text), Weight: t.Weight})
		}
		if len(terms) == 0 {
			return nil, nil
		}
		hits, err := ask(ctx, r.uses[engineVector],
			func(ctx context.Context) ([]vector.Hit, error) {
				return index.SearchTerms(ctx, terms, r.Plan.Filter, k)
			})
		return ofVectors(hits), err
	}
}

func ofVectors(hits []vector.Hit) []keyword.Hit {
	out := make([]keyword.Hit, len(hits))
	for i, h := range hits {
		out[i] = keyword.Hit{Record: h.Passage.Record(), Passage: h.Passage, Score: float64(h.Score)}
	}
	return out
}

// embed returns the query's embedding.
func (r *run) embed(ctx context.Context) ([]float32, error) {
	ctx, end := r.trace.Part(ctx, "embed")
	vectors, err := ask(ctx, r.uses[engineEmbedder], func(ctx context.Context) ([][]float32, error) {
		return r.engine.Embedder.Embed(ctx, []string{r.Plan.Text()}, embed.Query)
	})
	end(err)
	if err != nil {
		return nil, fmt.Errorf("embed query: %w", err)
	}
	return vectors[0], nil
}

// corpusList replaces the lists of engines on servers that are down or still being
// filled: it searches the documents in memory, which are there for the reranker
// anyway.
var corpusList = ranking.List{Retriever: "corpus", Weight: 1, Depth: maxCandidates}

// located is the maximum of passages of a record among which the best is located.
const located = 400

// scan returns the best k records by BM25 over the whole corpus, each with the
// passage where its words are. Its time goes with the number of records. The only
// error is that of the context.
func (r *run) scan(k int) ([]keyword.Hit, error) {
	score := r.Plan.Scorer.Overlap()
	var top topk.Top[float64, int64]
	top.Reset(k, cmp.Compare)
	n := 0
	for d := range r.Plan.Corpus.All() {
		if n++; n%1024 == 0 && r.ctx.Err() != nil {
			return nil, r.ctx.Err()
		}
		x := score(d)
		if x == 0 || !r.Plan.Filter.Admits(d.Record, d.Attributes) || !r.Plan.Operators.Allow(d) {
			continue
		}
		if top.Wants(x, d.Record) {
			top.Add(x, d.Record)
		}
	}
	best := top.Best()
	hits := make([]keyword.Hit, len(best))
	for i, x := range best {
		hits[i] = keyword.Hit{Record: x.Item, Passage: wholeRecord, Score: x.Score}
		d, err := r.Plan.Corpus.Document(r.ctx, x.Item)
		if err != nil {
			return nil, err
		}
		ordinals := make([]int, min(d.Len(), located))
		for o := range ordinals {
			ordinals[o] = o
		}
		if len(ordinals) > 0 {
			scores := r.Plan.Scorer.Locate(d, ordinals, nil)
			hits[i].Passage = passage.NewID(x.Item, slices.Index(scores, slices.Max(scores)))
		}
	}
	return hits, nil
}
