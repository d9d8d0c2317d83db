package plan

import (
	"slices"
	"strings"

	"almanac/retrieval/query"
)

// Looser is a query without one of its operators, or without any.
type Looser struct {
	Without string // as typed
	Query   query.Query
}

// relaxing is the most operators that are left out one at a time of a search that
// found nothing: every one costs another search.
const relaxing = 3

// Looser returns the query without each of its operators, those that leave out
// most first, if they are few; and without any, if there are several.
func (p *Plan) Looser() (each, without []Looser) {
	all := p.Query
	for i, x := range all.Phrases {
		q := all
		q.Phrases = slices.Delete(slices.Clone(q.Phrases), i, i+1)
		each = append(each, Looser{`"` + x.Text + `"`, q})
	}
	if q := all; len(q.Kinds) > 0 {
		q.Kinds = nil
		each = append(each, Looser{"kind:" + strings.Join(all.Kinds, ","), q})
	}
	if q := all; len(q.Sources) > 0 {
		q.Sources = nil
		each = append(each, Looser{"source:" + strings.Join(all.Sources, ","), q})
	}
	for i, x := range all.Exclude {
		q := all
		q.Exclude = slices.Delete(slices.Clone(q.Exclude), i, i+1)
		each = append(each, Looser{"-" + x.Text, q})
	}
	if len(each) > 1 {
		q, typed := all, make([]string, len(each))
		for i, l := range each {
			typed[i] = l.Without
		}
		q.Phrases, q.Exclude, q.Kinds, q.Sources = nil, nil, nil, nil
		without = []Looser{{strings.Join(typed, " "), q}}
	}
	if len(each) > relaxing {
		each = nil
	}
	return each, without
}
