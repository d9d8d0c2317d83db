package embedded

import (
	"cmp"
	"slices"

	"almanac/retrieval/keyword"
	"almanac/retrieval/passage"
)

// maxExpansions is the most terms that a prefix expands to: the most frequent ones.
const maxExpansions = 64

// plan is a query against one state.
type plan struct {
	state   *state
	unit    keyword.Unit
	filter  passage.Filter
	terms   []scoredTerm
	phrases [][]keyword.Term
	exclude []keyword.Term
}

// scoredTerm is a term with its factor of every score.
type scoredTerm struct {
	text  string
	scale float64 // weight · idf · (k1+1), in scoreUnits
}

// newPlan weighs the terms of a query.
//
// Terms without a positive weight are left out; one that occurs twice counts
// twice. A prefix expands to its most frequent terms, all with the idf of the
// most frequent of them, so that a rare completion does not outweigh the likely
// one; a completion that is also a term of the query counts only as that.
// Phrases filter; their terms score if the query has no others.
func newPlan(s *state, scoring *Scoring, q *keyword.Query, f *passage.Filter) *plan {
	p := &plan{state: s, unit: q.Unit, filter: *f, exclude: q.Exclude}
	for _, phrase := range q.Phrases {
		if len(phrase) > 0 {
			p.phrases = append(p.phrases, phrase)
		}
	}
	weights := termWeights(q.Terms)
	if len(weights) == 0 {
		weights = termWeights(slices.Concat(p.phrases...))
	}
	n := s.units[q.Unit].docs
	factor := (scoring.K1 + 1) * scoreUnit
	named := map[string]bool{}
	for _, t := range weights {
		if !t.Prefix {
			named[t.Text] = true
			if df := s.documentFrequency(q.Unit, t.Text); df > 0 {
				p.terms = append(p.terms, scoredTerm{t.Text, t.Weight * idf(n, df) * factor})
			}
		}
	}
	for _, t := range weights {
		if !t.Prefix {
			continue
		}
		var texts []string
		most := 0
		for _, c := range s.completions(q.Unit, t.Text) {
			if !named[c.text] {
				texts = append(texts, c.text)
				most = max(most, c.df)
				named[c.text] = true
			}
		}
		for _, text := range texts {
			p.terms = append(p.terms, scoredTerm{text, t.Weight * idf(n, most) * factor})
		}
	}
	return p
}

// termWeights joins equal terms; heavier prefixes come first, so that a
// completion of two prefixes counts with the greater weight.
func termWeights(terms []keyword.Term) []keyword.Term {
	var out []keyword.Term
	at := map[keyword.Term]int{}
	for _, t := range terms {
		w := min(t.Weight, maxTermWeight)
		if !(w > 0) || t.Text == "" {
			continue
		}
		t.Weight = 0
		i, ok := at[t]
		if !ok {
			i = len(out)
			at[t] = i
			out = append(out, t)
		}
		out[i].Weight = min(out[i].Weight+w, maxTermWeight)
	}
	slices.SortStableFunc(out, func(a, b keyword.Term) int { return cmp.Compare(b.Weight, a.Weight) })
	return out
}

// completions returns the most frequent terms with the prefix.
func (s *state) completions(unit keyword.Unit, prefix string) []completion {
	cursors := make([]vocabularyCursor, len(s.parts))
	for i, p := range s.parts {
		r := p.seg.terms.find(prefix, true)
		cursors[i] = vocabularyCursor{&p.seg.terms, r.lo, r.hi}
	}
	var found []completion
	mergeTerms(cursors, func(term string, at []int) {
		c := completion{text: term}
		for i, t := range at {
			if t >= 0 {
				c.df += int(s.parts[i].seg.units[unit].df[t])
			}
		}
		found = append(found, c)
	})
	// So far deleted documents are counted too, so df is an upper bound: live ones
	// are counted from the top until no further term can be among the best.
	slices.SortFunc(found, compareCompletions)
	var best []completion
	for _, c := range found {
		if len(best) == maxExpansions && c.df < best[maxExpansions-1].df {
			break
		}
		if c.df = s.documentFrequency(unit, c.text); c.df == 0 {
			continue
		}
		at, _ := slices.BinarySearchFunc(best, c, compareCompletions)
		best = slices.Insert(best, at, c)
		best = best[:min(len(best), maxExpansions)]
	}
	return best
}

// completion is a term that a prefix expands to.
type completion struct {
	text string
	df   int
}

func compareCompletions(a, b completion) int {
	return cmp.Or(cmp.Compare(b.df, a.df), cmp.Compare(a.text, b.text))
}

// partPlan is a plan against one part.
type partPlan struct {
	*part
	postings *postings
	unit     keyword.Unit
	allowed  bitset // nil = all
	phrases  []phrase
	c0, c1   float64
	drift    float64
	weights  *Scoring
}

// on prepares the plan for a part; it returns nil if the part cannot match.
func (p *plan) on(pt *part, scoring *Scoring) *partPlan {
	pp := &partPlan{part: pt, postings: &pt.seg.units[p.unit], unit: p.unit, weights: scoring}
	for _, terms := range p.phrases {
		ph := newPhrase(&pt.seg.terms, terms)
		if ph == nil {
			return nil
		}
		pp.phrases = append(pp.phrases, *ph)
	}
	set, own := pt.filtered(p.unit, &p.filter)
	change := func() {
		if own {
			return
		}
		if own = true; set == nil {
			set = fullBitset(pp.postings.docs())
		} else {
			set = slices.Clone(set)
		}
	}
	for _, ph := range pp.phrases {
		change()
		for _, r := range ph.terms {
			set.and(pp.postings.union(r))
		}
	}
	for _, t := range p.exclude {
		if r := pt.seg.terms.find(t.Text, t.Prefix); !r.empty() {
			change()
			set.andNot(pp.postings.union(r))
		}
	}
	pp.allowed = set
	average := p.state.units[p.unit].average
	pp.c0, pp.c1 = scoring.norm(average)
	pp.drift = 1
	if average > 0 {
		pp.drift = min(1, pp.postings.average/average)
	}
	return pp
}

// union returns the set of documents that have one of the terms.
func (p *postings) union(r termRange) bitset {
	set := newBitset(p.docs())
	for t := r.lo; t < r.hi; t++ {
		p.each(t, set.set)
	}
	return set
}

// cursors opens the lists of the plan's terms; the slice is reused.
func (p *plan) cursors(pp *partPlan, dst []*cursor, pool *cursorPool) []*cursor {
	for _, t := range p.terms {
		r := pp.seg.terms.find(t.text, false)
		if r.empty() || pp.postings.df[r.lo] == 0 {
			continue
		}
		c := pool.get()
		c.open(pp.postings, r.lo)
		c.scale, c.c0, c.c1, c.drift = t.scale, pp.c0, pp.c1, pp.drift
		dst = append(dst, c)
	}
	return dst
}

// id returns the ids of a document for its hit.
func (pp *partPlan) id(doc int) (record int64, id passage.ID) {
	if pp.unit == keyword.Documents {
		return pp.seg.ids[doc], 0
	}
	r := int(pp.seg.recordOf[doc])
	return pp.seg.ids[r], pp.seg.passageID(r, doc)
}
