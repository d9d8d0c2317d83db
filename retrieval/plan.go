package retrieval

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"almanac/embed"
	"almanac/retrieval/analysis"
	"almanac/retrieval/corpus"
	"almanac/retrieval/keyword"
	"almanac/retrieval/passage"
	"almanac/retrieval/profile"
	"almanac/retrieval/query"
	"almanac/retrieval/rerank"
)

// Plan is a query prepared for every retriever and for the reranker.
type Plan struct {
	Query   query.Query
	Keyword keyword.Query
	Filter  passage.Filter
	Profile profile.Profile

	relevance  *relevance
	rerank     rerank.Query
	statistics corpus.Statistics
	readings   []reading
	embed      func(context.Context) ([]float32, error)
	embedded   sync.Once
	vector     []float32
	vectorErr  error
}

// Vector returns the query's embedding, which is computed once, under the
// context of the first caller.
func (p *Plan) Vector(ctx context.Context) ([]float32, error) {
	p.embedded.Do(func() { p.vector, p.vectorErr = p.embed(ctx) })
	return p.vector, p.vectorErr
}

func (e *Engine) plan(r Request, set *relevance, prof profile.Profile) (*Plan, error) {
	q, err := query.Parse(r.Query)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrBadQuery, err)
	}
	p := &Plan{Query: q, Profile: prof, Filter: r.Filter, relevance: set}
	if p.Filter, err = narrow(p.Filter, q); err != nil {
		return nil, err
	}
	ids := make([]analysis.TermID, len(q.Terms))
	for i, t := range q.Terms {
		ids[i] = t.ID
	}
	p.statistics = e.follower.Corpus().Statistics(ids)
	p.Keyword = keyword.Query{Raw: q.Text}
	onlyStops := !slices.ContainsFunc(q.Terms, func(t query.Term) bool { return !t.Stop })
	for _, t := range q.Terms {
		weight := t.Weight
		if t.Stop && !onlyStops {
			weight = 0
		}
		p.rerank.Terms = append(p.rerank.Terms, rerank.Term{ID: t.ID, Position: t.Position, Weight: weight,
			Identifier: t.Identifier})
		if weight == 0 {
			continue
		}
		p.Keyword.Terms = append(p.Keyword.Terms,
			keyword.Term{Text: t.Text, Weight: weight, Rarity: p.statistics.IDF(t.ID)})
	}
	if prof.Correct {
		e.correct(p)
		slices.SortStableFunc(p.rerank.Terms, func(a, b rerank.Term) int { return cmp.Compare(a.Position, b.Position) })
	}
	set.aliases.expand(p, e.follower.Corpus())
	p.rerank.Text = q.Text
	for _, phrase := range q.Phrases {
		p.Keyword.Phrases = append(p.Keyword.Phrases, keywordTerms(phrase))
	}
	p.Keyword.Exclude = keywordTerms(q.Exclude)
	// A model knows what words mean, but hardly what a misspelt one was meant to be.
	text := cmp.Or(p.corrected(), q.Text)
	p.embed = func(ctx context.Context) ([]float32, error) {
		vectors, err := ask(ctx, e.breakers.embedder,
			func() ([][]float32, error) { return e.embedder.Embed(ctx, []string{text}, embed.Query) })
		if err != nil {
			return nil, fmt.Errorf("embed query: %w", err)
		}
		return vectors[0], nil
	}
	return p, nil
}

func keywordTerms(terms []query.Term) []keyword.Term {
	var out []keyword.Term
	for _, t := range terms {
		out = append(out, keyword.Term{Text: t.Text, Weight: 1})
	}
	return out
}

// narrow adds the operators of the query to the filter: the intersection if both have values.
func narrow(f passage.Filter, q query.Query) (passage.Filter, error) {
	var err error
	merge := func(operator string, have, add []string) []string {
		if len(add) == 0 {
			return have
		}
		if len(have) == 0 {
			return add
		}
		var both []string
		for _, v := range have {
			if slices.ContainsFunc(add, func(a string) bool { return strings.EqualFold(a, v) }) {
				both = append(both, v)
			}
		}
		if both == nil {
			err = fmt.Errorf("%w: the %s: operator of the query contradicts the filter", ErrBadQuery, operator)
		}
		return both
	}
	f.Kinds, f.Sources = merge("kind", f.Kinds, q.Kinds), merge("source", f.Sources, q.Sources)
	return f, err
}
