package retrieval

import (
	"slices"
	"strings"

	"almanac/retrieval/query"
)

// looser is a query without one of its operators, or without any.
type looser struct {
	Without string // as typed
	Query   query.Query
}

// relaxing is how many operators of a search that found nothing are dropped one at a
// time, at most: each costs another search.
const relaxing = 3

// looser returns in each the query without one of its operators, for every operator,
// those that exclude most first, unless there are too many; and in without, if it has
// several, the query without any.
func (p *plan) looser() (each, without []looser) {
	all := p.Query
	for i, x := range all.Phrases {
		q := all
		q.Phrases = slices.Delete(slices.Clone(q.Phrases), i, i+1)
		each = append(each, looser{`"` + x.Text + `"`, q})
	}
	if q := all; len(q.Kinds) > 0 {
		q.Kinds = nil
		each = append(each, looser{"kind:" + strings.Join(all.Kinds, ","), q})
	}
	if q := all; len(q.Sources) > 0 {
		q.Sources = nil
		each = append(each, looser{"source:" + strings.Join(all.Sources, ","), q})
	}
	for i, x := range all.Exclude {
		q := all
		q.Exclude = slices.Delete(slices.Clone(q.Exclude), i, i+1)
		each = append(each, looser{"-" + x.Text, q})
	}
	if len(each) > 1 {
		q, typed := all, make([]string, len(each))
		for i, l := range each {
			typed[i] = l.Without
		}
		q.Phrases, q.Exclude, q.Kinds, q.Sources = nil, nil, nil, nil
		without = []looser{{strings.Join(typed, " "), q}}
	}
	if len(each) > relaxing {
		each = nil
	}
	return each, without
}
