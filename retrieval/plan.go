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

	relevance   *relevance
	corpus      *corpus.Corpus // as it was when the search began
	lists       []list
	operators   operators
	allowed     func(record int64) bool // what the operators allow; nil: everything
	trials      trials
	rerank      rerank.Query
	scorer      *rerank.Scorer // of rerank
	statistics  corpus.Statistics
	corrections []correction
	embed       func(context.Context) ([]float32, error)
	embedded    sync.Once
	vector      []float32
	vectorErr   error
}

// list is a list of the profile that takes part.
type list struct {
	profile.List
	depth int // hits to ask for, of which List.Depth are kept
}

// trials are a search's uses of the engines.
type trials struct{ keyword, vector, embedder, reranker *trial }

func (t trials) all() []*trial { return []*trial{t.keyword, t.vector, t.embedder, t.reranker} }

// Vector returns the query's embedding, which is computed once, under the
// context of the first caller.
func (p *Plan) Vector(ctx context.Context) ([]float32, error) {
	p.embedded.Do(func() { p.vector, p.vectorErr = p.embed(ctx) })
	return p.vector, p.vectorErr
}

// plan prepares a parsed query.
func (e *Engine) plan(r Request, q query.Query, set *relevance, prof profile.Profile) (*Plan, error) {
	p := &Plan{Query: q, Profile: prof, Filter: r.Filter, relevance: set, corpus: e.follower.Corpus(),
		operators: newOperators(q)}
	var err error
	if p.Filter, err = narrow(p.Filter, q); err != nil {
		return nil, err
	}
	p.trials = trials{e.breakers.keyword.trial(), e.breakers.vector.trial(), e.breakers.embedder.trial(),
		e.breakers.reranker.trial()}
	e.planLists(p)
	e.planTerms(p)
	p.scorer = rerank.NewScorer(p.rerank, p.statistics)
	for _, phrase := range q.Phrases {
		p.Keyword.Phrases = append(p.Keyword.Phrases, keywordTerms(phrase.Terms))
	}
	for _, x := range q.Exclude {
		if !x.Phrase {
			p.Keyword.Exclude = append(p.Keyword.Exclude, keywordTerms(x.Terms)...)
		}
	}
	if !p.operators.none() {
		p.allowed = p.operators.decide(p.corpus)
		p.Keyword.Accept = p.allowed
	}
	// A model knows what words mean, but hardly what a misspelt one was meant to be.
	text := cmp.Or(p.corrected(), q.Text)
	p.embed = func(ctx context.Context) ([]float32, error) {
		vectors, err := ask(ctx, p.trials.embedder,
			func() ([][]float32, error) { return e.embedder.Embed(ctx, []string{text}, embed.Query) })
		if err != nil {
			return nil, fmt.Errorf("embed query: %w", err)
		}
		return vectors[0], nil
	}
	return p, nil
}

// planTerms weighs what was typed and adds what it is also read as.
func (e *Engine) planTerms(p *Plan) {
	q := p.Query
	ids := make([]analysis.TermID, len(q.Terms))
	for i, t := range q.Terms {
		ids[i] = t.ID
	}
	p.statistics = p.corpus.Statistics(ids)
	p.rerank = rerank.Query{Text: q.Text, UndatedRecency: p.Profile.Rules.UndatedRecency,
		NamedInTitle: p.Profile.Rules.NamedInTitle}
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
	if p.Profile.Correct {
		e.correct(p)
		slices.SortStableFunc(p.rerank.Terms, func(a, b rerank.Term) int { return cmp.Compare(a.Position, b.Position) })
	}
	p.relevance.aliases.expand(p)
}

// held returns the terms that a document holds. The others find nothing, and an
// engine that makes lists for the rarest terms would make its lists for them.
func (p *Plan) held() []keyword.Term {
	var terms []keyword.Term
	for _, t := range p.Keyword.Terms {
		if p.statistics.DocumentFrequency(analysis.IDOf(t.Text)) > 0 {
			terms = append(terms, t)
		}
	}
	return terms
}

// What phrases and exclusions leave out of a list is made up for by its depth.
const (
	deeper  = 4    // times as many hits
	deepest = 1000 // hits
)

// planLists chooses the lists: a list gives way to the one that replaces it only
// while that one's engine has everything.
func (e *Engine) planLists(p *Plan) {
	usable := func(retriever string) bool {
		return e.retrievers[retriever] != nil && e.available(engineOf[retriever])
	}
	for _, l := range p.Profile.Lists {
		if usable(l.Unless) {
			continue
		}
		depth := l.Depth
		if !p.operators.none() {
			depth = max(depth, min(deepest, deeper*depth))
		}
		p.lists = append(p.lists, list{l, depth})
		p.Keyword.Assisted = p.Keyword.Assisted || l.Retriever == "sparse" && usable(l.Retriever)
	}
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
