// Package plan makes of a request what engines and stages are asked: a value that
// says which lists to read, what the query is also read as, what it leaves out and
// which pins apply.
package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"almanac/catalog"
	"almanac/retrieval/analysis"
	"almanac/retrieval/corpus"
	"almanac/retrieval/keyword"
	"almanac/retrieval/passage"
	"almanac/retrieval/phrase"
	"almanac/retrieval/profile"
	"almanac/retrieval/query"
	"almanac/retrieval/rerank"
)

// State is what there is when a search begins.
type State struct {
	Corpus *corpus.Corpus
	Time   time.Time // decides which pins are in force
	// Usable reports whether the engine of a retriever answers and has everything.
	Usable  func(retriever string) bool
	Crossed bool // there is a cross-encoder
	// IsWord reports whether a folded word is known to be spelt right, however rare
	// in the corpus.
	IsWord func(string) bool
	// Authority is the prior of a record by its source, else by its kind; empty: that
	// of its role.
	Authority map[string]float64
	// Unrelated is a cosine that texts of other subjects have by the model too; the floor
	// of a profile is at least that.
	Unrelated float64
}

// Plan is a request prepared for every engine and every stage. It does not change
// while a search runs.
type Plan struct {
	State
	Request Request
	Query   query.Query
	Keyword keyword.Query
	Filter  passage.Filter // with the query's operators
	Profile profile.Profile
	Lists   []List

	Operators   phrase.Operators
	Decisions   *phrase.Decisions // of Operators
	Places      []profile.Place   // fixed by a pin
	Model       rerank.Model
	Scorer      *rerank.Scorer
	Statistics  corpus.Statistics
	rerank      rerank.Query // of Scorer
	corrections []correction
	completion  completion
	pairs       []string // in which characters that were typed alone stand
	set         *profile.Set
}

// List is a list of the profile that takes part.
type List struct {
	profile.List
	Read    int  // hits to ask for, of which Depth are kept
	StandIn bool // for one that cannot be used now
}

// New prepares a request. Its own Relevance is left to the caller, who gives the
// set of it.
func New(r Request, set *profile.Set, state State) (*Plan, error) {
	prof, ok := set.Profile(r.Profile)
	if !ok {
		return nil, fmt.Errorf("%w: there is no profile %q", ErrBadQuery, r.Profile)
	}
	parse := query.Parse
	if r.Plain {
		parse = query.Plain
	}
	r.Query = query.Cut(r.Query)
	q, err := parse(r.Query)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrBadQuery, err)
	}
	p := Plan{State: state, Request: r, Profile: prof, set: set}
	return p.With(q)
}

// With returns the plan with another query.
func (p *Plan) With(q query.Query) (*Plan, error) {
	prof := p.Profile
	p = &Plan{State: p.State, Request: p.Request, Query: q, Filter: p.Request.Filter, Profile: prof,
		Operators: phrase.New(q), Places: p.set.Places(q, p.Time), Model: p.set.Model(prof.Name), set: p.set}
	var err error
	if p.Filter, err = narrow(p.Filter, q); err != nil {
		return nil, err
	}
	p.chooseLists()
	p.weighTerms()
	p.Scorer = rerank.NewScorer(p.rerank, p.Statistics)
	for _, phrase := range q.Phrases {
		p.Keyword.Phrases = append(p.Keyword.Phrases, keywordTerms(phrase.Terms))
	}
	if !p.Operators.None() {
		p.Decisions = p.Operators.Decide(p.Corpus)
		p.Keyword.Accept = p.Decisions.Allow
	}
	return p, nil
}

// Rerank is the order of a profile whose model orders the candidates.
const Rerank = "rerank"

// Reranks reports whether the profile's model orders the candidates; else they
// keep the order of the fused lists.
func (p *Plan) Reranks() bool { return p.Profile.Order == Rerank }

// authority is the prior of records in a network that gives none to any source or kind.
var authority = map[catalog.Role]float64{catalog.RoleProposal: 1, catalog.RolePage: 0.8, catalog.RoleChange: 0.7,
	catalog.RolePublication: 0.6, catalog.RoleFact: 0.6, catalog.RoleFile: 0.5, catalog.RoleThread: 0.4,
	catalog.RoleWork: 0.4, catalog.RoleMessage: 0.2}

// AuthorityOf returns the prior of a document.
func (p *Plan) AuthorityOf(d *corpus.Document) float64 {
	a, ok := p.Authority[d.Attributes.Source]
	switch {
	case ok:
	case len(p.Authority) == 0:
		a = authority[catalog.Kind(d.Attributes.Kind).Role()]
	default:
		a = p.Authority[d.Attributes.Kind]
	}
	if d.Secondary {
		a -= p.Profile.Rules.SecondaryPenalty
	}
	return a
}

// Text returns the query as it is embedded: a model knows what words mean, but
// hardly what a misspelt one was meant to be, or one that is begun.
func (p *Plan) Text() string {
	text := cmp.Or(p.Corrected(), p.Query.Text)
	if begun, ok := strings.CutSuffix(text, p.completion.word); ok && p.Unfinished() {
		return begun + p.completion.words[0].Word
	}
	return text
}

// weighTerms weighs what was typed and adds what it is also read as.
func (p *Plan) weighTerms() {
	q := p.Query
	ids := make([]analysis.TermID, len(q.Terms))
	for i, t := range q.Terms {
		ids[i] = t.ID
	}
	p.Statistics = p.Corpus.Statistics(ids)
	p.rerank = rerank.Query{Text: q.Text, UndatedRecency: p.Profile.Rules.UndatedRecency,
		NamedInTitle: p.Profile.Rules.NamedInTitle}
	onlyStops := !slices.ContainsFunc(q.Terms, func(t query.Term) bool { return !t.Stop })
	for _, t := range q.Terms {
		weight := t.Weight
		if t.Stop && !onlyStops {
			weight = 0
		}
		p.rerank.Terms = append(p.rerank.Terms, rerank.Term{ID: t.ID, Position: t.Position, Weight: weight,
			Identifier: t.Identifier, Coined: t.Coined})
		if weight == 0 {
			continue
		}
		p.Keyword.Terms = append(p.Keyword.Terms,
			keyword.Term{Text: t.Text, Weight: weight, Rarity: p.Statistics.IDF(t.ID)})
	}
	p.pair()
	p.complete(false)
	if p.Profile.Correct {
		p.correct()
		p.complete(true)
	}
	slices.SortStableFunc(p.rerank.Terms, func(a, b rerank.Term) int { return cmp.Compare(a.Position, b.Position) })
	for _, t := range p.set.Alternatives(q.Terms, p.Profile.Rules.AliasWeight) {
		p.add(t.Text, untypedPosition, t.Weight)
	}
}

// Held returns the terms that occur in some document. The others find nothing, yet an
// engine that makes lists for the rarest terms would spend its lists on them.
func (p *Plan) Held() []keyword.Term {
	var terms []keyword.Term
	for _, t := range p.Keyword.Terms {
		if p.Statistics.DocumentFrequency(analysis.IDOf(t.Text)) > 0 {
			terms = append(terms, t)
		}
	}
	return terms
}

// Lists are read deeper where phrases and exclusions remove hits from them.
const (
	deeper  = 4    // times as many hits
	deepest = 1000 // hits
)

// Deepest returns the plan with every list as deep as any is read.
func (p *Plan) Deepest() *Plan {
	deep := *p
	deep.Lists = slices.Clone(p.Lists)
	for i := range deep.Lists {
		deep.Lists[i].Read = deepest
	}
	return &deep
}

// chooseLists leaves out a list while the one that replaces it is usable.
func (p *Plan) chooseLists() {
	for _, l := range p.Profile.Lists {
		if p.Usable(l.Unless) {
			continue
		}
		read := l.Depth
		if !p.Operators.None() {
			read = max(read, min(deepest, deeper*read))
		}
		standIn := slices.ContainsFunc(p.Profile.Lists, func(x profile.List) bool { return x.Retriever == l.Unless })
		p.Lists = append(p.Lists, List{l, read, standIn})
		p.Keyword.Assisted = p.Keyword.Assisted || l.Retriever == "sparse" && p.Usable(l.Retriever)
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
