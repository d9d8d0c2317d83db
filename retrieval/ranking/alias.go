package ranking

import (
	"maps"
	"slices"

	"almanac/retrieval/analysis"
	"almanac/retrieval/query"
)

// compileAliases parses the groups of equivalent spellings; those without a word
// are left out.
func compileAliases(spellings map[string][]string) [][][]query.Term {
	var out [][][]query.Term
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

// Alternatives returns the terms of the other spellings of those that a query
// contains, of this weight beside the words typed.
func (s *Set) Alternatives(terms []query.Term, weight float64) (out []query.Term) {
	for _, group := range s.aliases {
		i := slices.IndexFunc(group, func(spelling []query.Term) bool { return holds(terms, spelling) })
		for j, other := range group {
			for _, t := range other {
				if i < 0 || j == i || t.Stop ||
					slices.ContainsFunc(terms, func(q query.Term) bool { return q.ID == t.ID }) {
					continue
				}
				t.Weight = weight * t.Weight * float64(len(group[i])) / float64(len(other))
				out = append(out, t)
			}
		}
	}
	return out
}

// holds reports whether all terms of a spelling occur consecutively in a query,
// as separate words: parts of an identifier do not count.
func holds(terms, spelling []query.Term) bool {
	at := func(id analysis.TermID, position int) bool {
		return slices.ContainsFunc(terms, func(t query.Term) bool {
			return t.ID == id && t.Weight == 1 && (t.Position == position || slices.Contains(t.Again, position))
		})
	}
	begins := func(position int) bool {
		offset := position - spelling[0].Position
		return !slices.ContainsFunc(spelling, func(s query.Term) bool { return !at(s.ID, s.Position+offset) })
	}
	return slices.ContainsFunc(terms, func(first query.Term) bool {
		return first.ID == spelling[0].ID && (begins(first.Position) || slices.ContainsFunc(first.Again, begins))
	})
}
