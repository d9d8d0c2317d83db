package retrieval

import (
	"slices"
	"strings"
	"time"

	"almanac/retrieval/query"
)

// Relaxed is what a search finds without one of its operators, or without any.
type Relaxed struct {
	Without string `json:"without"` // as typed
	Total   int    `json:"total"`
}

// relaxing is the most operators that are left out one at a time of a search that
// found nothing: every one costs another search.
const relaxing = 3

// relaxed says which operators left nothing over, and what there is without
// them: each if they are few, else all. While an engine is missing that cannot
// be told.
func (s *search) relaxed() []Relaxed {
	if len(s.degraded) > 0 {
		return nil
	}
	operators := operatorsOf(s.plan.Query)
	var out []Relaxed
	for _, o := range operators {
		if len(operators) > relaxing {
			break
		}
		if n := s.totalOf(o.without(s.plan.Query)); n > 0 {
			out = append(out, Relaxed{o.typed, n})
		}
	}
	if len(out) > 0 || len(operators) < 2 {
		return out
	}
	q, typed := s.plan.Query, make([]string, len(operators))
	for i, o := range operators {
		typed[i] = o.typed
	}
	q.Phrases, q.Exclude, q.Kinds, q.Sources = nil, nil, nil, nil
	if n := s.totalOf(q); n > 0 {
		out = append(out, Relaxed{strings.Join(typed, " "), n})
	}
	return out
}

// totalOf returns how much another query would find; 0 if that cannot be told.
func (s *search) totalOf(q query.Query) int {
	p, err := s.Engine.plan(s.request, q, s.plan.relevance, s.plan.Profile)
	if err != nil {
		return 0
	}
	other := s.search(s.ctx, s.request, p, time.Now())
	defer other.end()
	found, err := other.rank()
	if err != nil {
		return 0
	}
	return len(found)
}

// operator is one operator of a query.
type operator struct {
	typed   string
	without func(query.Query) query.Query
}

// operatorsOf lists the operators of a query, those that leave out most first.
func operatorsOf(q query.Query) []operator {
	var out []operator
	for i, x := range q.Phrases {
		out = append(out, operator{`"` + x.Text + `"`, func(q query.Query) query.Query {
			q.Phrases = slices.Delete(slices.Clone(q.Phrases), i, i+1)
			return q
		}})
	}
	if len(q.Kinds) > 0 {
		out = append(out, operator{"kind:" + strings.Join(q.Kinds, ","), func(q query.Query) query.Query {
			q.Kinds = nil
			return q
		}})
	}
	if len(q.Sources) > 0 {
		out = append(out, operator{"source:" + strings.Join(q.Sources, ","), func(q query.Query) query.Query {
			q.Sources = nil
			return q
		}})
	}
	for i, x := range q.Exclude {
		out = append(out, operator{"-" + x.Text, func(q query.Query) query.Query {
			q.Exclude = slices.Delete(slices.Clone(q.Exclude), i, i+1)
			return q
		}})
	}
	return out
}
