package retrieval

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode"

	"almanac/embed"
	"almanac/retrieval/analysis"
	"almanac/retrieval/index"
	"almanac/retrieval/keyword"
	"almanac/retrieval/passage"
	"almanac/retrieval/profile"
	"almanac/retrieval/query"
	"almanac/retrieval/rerank"
)

// Plan is a query made ready for every retriever and for the reranker.
type Plan struct {
	Query   query.Query
	Keyword keyword.Query
	Filter  passage.Filter
	Profile profile.Profile

	rerank     rerank.Query
	statistics index.Statistics
	corrected  map[string]string // word as typed → term it is also read as
	vector     func() ([]float32, error)
}

// Vector returns the query's embedding, made once.
func (p *Plan) Vector(context.Context) ([]float32, error) { return p.vector() }

// Correction: a word of at least five letters that hardly any document holds
// is also read as the indexed word nearest to it, if that is ten times as
// frequent and begins with the same letter; two edits need eight letters.
const (
	correctFrom   = 5
	correctTwo    = 8
	correctRare   = 3
	correctFactor = 10
	correctWeight = 0.8
)

func (e *Engine) plan(ctx context.Context, r Request, prof profile.Profile) (*Plan, error) {
	q, err := query.Parse(r.Query)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrBadQuery, err)
	}
	p := &Plan{Query: q, Profile: prof, Filter: r.Filter, corrected: map[string]string{}}
	if p.Filter, err = narrow(p.Filter, q); err != nil {
		return nil, err
	}
	ids := make([]analysis.TermID, len(q.Terms))
	for i, t := range q.Terms {
		ids[i] = t.ID
	}
	p.statistics = e.follower.Table().Statistics(ids)
	p.Keyword = keyword.Query{Raw: q.Text}
	onlyStops := !slices.ContainsFunc(q.Terms, func(t query.Term) bool { return !t.Stop })
	for _, t := range q.Terms {
		weight := t.Weight
		if t.Stop && !onlyStops {
			weight = 0
		}
		p.rerank.Terms = append(p.rerank.Terms, rerank.Term{ID: t.ID, Position: t.Position, Weight: weight, Identifier: t.Identifier})
		if weight == 0 {
			continue
		}
		p.Keyword.Terms = append(p.Keyword.Terms, keyword.Term{Text: t.Text, Weight: weight})
		if prof.Correct {
			if err := e.correct(ctx, p, t); err != nil {
				e.log.Warn("retrieval: correction", "error", err)
			}
		}
	}
	p.rerank.Text = q.Text
	for _, phrase := range q.Phrases {
		p.Keyword.Phrases = append(p.Keyword.Phrases, keywordTerms(phrase))
	}
	p.Keyword.Exclude = keywordTerms(q.Exclude)
	p.vector = sync.OnceValues(func() ([]float32, error) {
		vectors, err := e.embedder.Embed(ctx, []string{q.Text}, embed.Query)
		if err != nil {
			return nil, fmt.Errorf("retrieval: embed query: %w", err)
		}
		return vectors[0], nil
	})
	return p, nil
}

// correct adds the reading of a word that the corpus hardly knows.
func (e *Engine) correct(ctx context.Context, p *Plan, t query.Term) error {
	n := len([]rune(t.Word))
	df := p.statistics.DocumentFrequency(t.ID)
	if n < correctFrom || df > correctRare || t.Identifier || strings.ContainsFunc(t.Word, func(r rune) bool { return !unicode.IsLetter(r) }) {
		return nil
	}
	found, err := e.keyword.Expand(ctx, t.Text, 16)
	if err != nil {
		return err
	}
	best := keyword.Expansion{}
	for _, x := range found {
		if x.Term == t.Text || x.Distance > 1 && n < correctTwo || x.Documents < correctFactor*df || x.Term[:1] != t.Text[:1] {
			continue
		}
		if best.Term == "" || x.Distance < best.Distance || x.Distance == best.Distance && x.Documents > best.Documents {
			best = x
		}
	}
	if best.Term == "" {
		best.Term = e.inflected(t.Word, df)
	}
	if best.Term == "" {
		return nil
	}
	id := analysis.IDOf(best.Term)
	p.corrected[t.Word] = best.Term
	p.Keyword.Terms = append(p.Keyword.Terms, keyword.Term{Text: best.Term, Weight: correctWeight * t.Weight})
	p.rerank.Terms = append(p.rerank.Terms, rerank.Term{ID: id, Position: t.Position, Weight: correctWeight * t.Weight})
	p.statistics = p.statistics.With(e.follower.Table().Statistics([]analysis.TermID{id}))
	return nil
}

// inflected finds the indexed stem of a word that is misspelt in its ending,
// where stemming did not reach: transactoin, governence.
func (e *Engine) inflected(word string, df int) string {
	letters := []rune(word)
	for cut := 1; cut <= 4 && len(letters)-cut >= correctFrom; cut++ {
		stem := analysis.Stem(string(letters[:len(letters)-cut]))
		id := analysis.IDOf(stem)
		if found := e.follower.Table().Statistics([]analysis.TermID{id}).DocumentFrequency(id); found > 0 && found >= correctFactor*df {
			return stem
		}
	}
	return ""
}

func keywordTerms(terms []query.Term) []keyword.Term {
	var out []keyword.Term
	for _, t := range terms {
		out = append(out, keyword.Term{Text: t.Text, Weight: 1})
	}
	return out
}

// narrow adds the operators of the query to the filter: what both name, where
// both name something.
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

// correctedTerm is a term that stands for a misspelt word.
func correctedTerm(term string) query.Term {
	return query.Term{Text: term, ID: analysis.IDOf(term), Weight: correctWeight, Word: term}
}
