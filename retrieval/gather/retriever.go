package gather

import (
	"context"
	"fmt"

	"almanac/embed"
	"almanac/retrieval/analysis"
	"almanac/retrieval/keyword"
	"almanac/retrieval/passage"
	"almanac/retrieval/vector"
)

// Hit is a found record with the passage that was found, or Whole if the record
// was found as a whole.
type Hit = keyword.Hit

const Whole passage.ID = -1

// retriever finds up to k hits by one kind of evidence, best first.
type retriever func(ctx context.Context, f *Found, k int) ([]Hit, error)

// lexical searches a keyword engine for passages or documents.
func lexical(engine keyword.Engine, unit keyword.Unit) retriever {
	return func(ctx context.Context, f *Found, k int) ([]Hit, error) {
		q := f.Plan.Keyword
		q.Unit, q.Terms = unit, f.Plan.Held()
		hits, err := ask(ctx, f.trials[words],
			func() ([]keyword.Hit, error) { return engine.Search(ctx, q, f.Plan.Filter, k) })
		if unit == keyword.Documents {
			for i := range hits {
				hits[i].Passage = Whole
			}
		}
		return hits, err
	}
}

// nearest searches a vector engine for the nearest passages.
func nearest(index vector.Index) retriever {
	return func(ctx context.Context, f *Found, k int) ([]Hit, error) {
		v, err := f.vector(ctx)
		if err != nil {
			return nil, err
		}
		hits, err := ask(ctx, f.trials[vectors],
			func() ([]vector.Hit, error) { return index.Search(ctx, v, f.Plan.Filter, k) })
		return ofVectors(hits), err
	}
}

// sparse searches a vector engine for passages by their terms.
func sparse(index vector.Sparse) retriever {
	return func(ctx context.Context, f *Found, k int) ([]Hit, error) {
		var terms []vector.Term
		for _, t := range f.Plan.Held() {
			terms = append(terms, vector.Term{ID: analysis.IDOf(t.Text), Weight: t.Weight})
		}
		if len(terms) == 0 {
			return nil, nil
		}
		hits, err := ask(ctx, f.trials[vectors],
			func() ([]vector.Hit, error) { return index.SearchTerms(ctx, terms, f.Plan.Filter, k) })
		return ofVectors(hits), err
	}
}

func ofVectors(hits []vector.Hit) []Hit {
	out := make([]Hit, len(hits))
	for i, h := range hits {
		out[i] = Hit{Record: h.Passage.Record(), Passage: h.Passage, Score: float64(h.Score)}
	}
	return out
}

// embed returns the query's embedding.
func (f *Found) embed(ctx context.Context) ([]float32, error) {
	vectors, err := ask(ctx, f.trials[embedder], func() ([][]float32, error) {
		return f.engines.Embedder.Embed(ctx, []string{f.Plan.Text()}, embed.Query)
	})
	if err != nil {
		return nil, fmt.Errorf("embed query: %w", err)
	}
	return vectors[0], nil
}
