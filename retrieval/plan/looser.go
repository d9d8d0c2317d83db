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
	var typed []string
	add := func(name string, change func(*query.Query)) {
		q := p.Query
		change(&q)
		each, typed = append(each, Looser{name, q}), append(typed, name)
	}
	for i, x := range p.Query.Phrases {
		add(`"`+x.Text+`"`, func(q *query.Query) { q.Phrases = slices.Delete(slices.Clone(q.Phrases), i, i+1) })
	}
	if kinds := p.Query.Kinds; len(kinds) > 0 {
		add("kind:"+strings.Join(kinds, ","), func(q *query.Query) { q.Kinds = nil })
	}
	if sources := p.Query.Sources; len(sources) > 0 {
		add("source:"+strings.Join(sources, ","), func(q *query.Query) { q.Sources = nil })
	}
	for i, x := range p.Query.Exclude {
		add("-"+x.Text, func(q *query.Query) { q.Exclude = slices.Delete(slices.Clone(q.Exclude), i, i+1) })
	}
	if len(each) > 1 {
		q := p.Query
		q.Phrases, q.Exclude, q.Kinds, q.Sources = nil, nil, nil, nil
		without = []Looser{{strings.Join(typed, " "), q}}
	}
	if len(each) > relaxing {
		each = nil
	}
	return each, without
}
