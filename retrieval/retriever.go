package retrieval

import (
	"context"

	"almanac/retrieval/analysis"
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

// Hit is a found record with the ordinal of the passage that was found, or −1
// if the record was found as a whole.
type Hit = keyword.Hit

const whole passage.ID = -1

// The engines of a search, each of which can fail: a response without one names it in degraded.
const (
	keywordEngine = "keyword"
	vectorEngine  = "vector"
	crossEncoder  = "cross-encoder"
)

// engineOf maps every retriever to its engine.
var engineOf = map[string]string{"documents": keywordEngine, "passages": keywordEngine, "dense": vectorEngine,
	"sparse": vectorEngine}

// keywordRetriever searches a keyword engine for passages or documents.
type keywordRetriever struct {
	name   string
	engine keyword.Engine
	unit   keyword.Unit
}

func (r keywordRetriever) Name() string { return r.name }

func (r keywordRetriever) Retrieve(ctx context.Context, p *Plan, f passage.Filter, k int) ([]Hit, error) {
	q := p.Keyword
	q.Unit, q.Terms = r.unit, p.held()
	hits, err := ask(ctx, p.trials.keyword, func() ([]keyword.Hit, error) { return r.engine.Search(ctx, q, f, k) })
	if err != nil {
		return nil, err
	}
	if r.unit == keyword.Documents {
		for i := range hits {
			hits[i].Passage = whole
		}
	}
	return hits, nil
}

// denseRetriever searches a vector engine for the nearest passages.
type denseRetriever struct {
	index vector.Index
}

func (denseRetriever) Name() string { return "dense" }

func (r denseRetriever) Retrieve(ctx context.Context, p *Plan, f passage.Filter, k int) ([]Hit, error) {
	v, err := p.Vector(ctx)
	if err != nil {
		return nil, err
	}
	hits, err := ask(ctx, p.trials.vector, func() ([]vector.Hit, error) { return r.index.Search(ctx, v, f, k) })
	return ofVectors(hits), err
}

// sparseRetriever searches a vector engine for passages by their terms.
type sparseRetriever struct {
	index vector.Sparse
}

func (sparseRetriever) Name() string { return "sparse" }

func (r sparseRetriever) Retrieve(ctx context.Context, p *Plan, f passage.Filter, k int) ([]Hit, error) {
	var terms []vector.Term
	for _, t := range p.held() {
		terms = append(terms, vector.Term{ID: analysis.IDOf(t.Text), Weight: t.Weight})
	}
	if len(terms) == 0 {
		return nil, nil
	}
	hits, err := ask(ctx, p.trials.vector, func() ([]vector.Hit, error) { return r.index.SearchTerms(ctx, terms, f, k) })
	return ofVectors(hits), err
}

func ofVectors(hits []vector.Hit) []Hit {
	out := make([]Hit, len(hits))
	for i, h := range hits {
		out[i] = Hit{Record: h.Passage.Record(), Passage: h.Passage, Score: float64(h.Score)}
	}
	return out
}
