package retrieval

import (
	"context"

	"almanac/retrieval/keyword"
	"almanac/retrieval/passage"
	"almanac/retrieval/vector"
)

// Retriever finds records for a query by one kind of evidence.
type Retriever interface {
	Name() string
	// Retrieve returns up to k hits, best first. It is safe for concurrent use.
	Retrieve(ctx context.Context, p *Plan, f passage.Filter, k int) ([]Hit, error)
}

// Hit is a found record with the passage that was found, or −1 where the
// record was found as a whole.
type Hit struct {
	Record  int64
	Passage passage.ID
	Score   float64
}

const whole passage.ID = -1

// keywordRetriever asks a keyword engine for passages or documents.
type keywordRetriever struct {
	name   string
	engine keyword.Engine
	unit   keyword.Unit
}

func (r keywordRetriever) Name() string { return r.name }

func (r keywordRetriever) Retrieve(ctx context.Context, p *Plan, f passage.Filter, k int) ([]Hit, error) {
	q := p.Keyword
	q.Unit = r.unit
	hits, err := r.engine.Search(ctx, q, f, k)
	if err != nil {
		return nil, err
	}
	out := make([]Hit, len(hits))
	for i, h := range hits {
		out[i] = Hit{Record: h.Record, Passage: h.Passage, Score: h.Score}
		if r.unit == keyword.Documents {
			out[i].Passage = whole
		}
	}
	return out, nil
}

// denseRetriever asks a vector engine for the nearest passages.
type denseRetriever struct{ index vector.Index }

func (denseRetriever) Name() string { return "dense" }

func (r denseRetriever) Retrieve(ctx context.Context, p *Plan, f passage.Filter, k int) ([]Hit, error) {
	v, err := p.Vector(ctx)
	if err != nil {
		return nil, err
	}
	hits, err := r.index.Search(ctx, v, f, k)
	if err != nil {
		return nil, err
	}
	out := make([]Hit, len(hits))
	for i, h := range hits {
		out[i] = Hit{Record: h.Passage.Record(), Passage: h.Passage, Score: float64(h.Score)}
	}
	return out, nil
}
