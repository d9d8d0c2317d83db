package retrieval

import (
	"maps"
	"slices"

	"almanac/retrieval/analysis"
	"almanac/retrieval/query"
)

// untypedPosition is that of words that were not typed: after all typed ones.
const untypedPosition = 1 << 20

// aliases are the network's equivalent spellings, as terms: a query that
// contains one is also read as the others.
type aliases [][][]query.Term

// newAliases parses the spellings; those without a word are left out.
func newAliases(spellings map[string][]string) aliases {
	var out aliases
	for _, name := range slices.Sorted(maps.Keys(spellings)) {
		var group [][]query.Term
		for _, s := range append([]string{name}, spellings[name]...) {
			if q, err := query.Parse(s); err == nil {
				group = append(group, q.Terms)
			}
		}
		out = append(out, group)
	}
	return out
}

// expand adds the other spellings of those the query contains.
func (a aliases) expand(p *Plan) {
	for _, group := range a {
		for i, spelling := range group {
			if !holds(p.Query.Terms, spelling) {
				continue
			}
			for j, other := range group {
				for _, t := range other {
					if j != i && !t.Stop &&
						!slices.ContainsFunc(p.Query.Terms, func(q query.Term) bool { return q.ID == t.ID }) {
						weight := p.Profile.Rules.AliasWeight * t.Weight * float64(len(spelling)) / float64(len(other))
						p.add(t.Text, untypedPosition, weight)
					}
				}
			}
			break
		}
	}
}

// holds reports whether all terms of a spelling occur consecutively in a query,
// as separate words: parts of an identifier do not count.
func holds(terms, spelling []query.Term) bool {
	at := func(id analysis.TermID, position int) bool {
		return slices.ContainsFunc(terms, func(t query.Term) bool {
			return t.ID == id && t.Position == position && t.Weight == 1
		})
	}
	return slices.ContainsFunc(terms, func(first query.Term) bool {
		offset := first.Position - spelling[0].Position
		return !slices.ContainsFunc(spelling, func(s query.Term) bool { return !at(s.ID, s.Position+offset) })
	})
}
