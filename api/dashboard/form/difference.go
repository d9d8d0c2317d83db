package form

import (
	"context"
	"errors"
	"slices"

	"almanac/retrieval"
	"almanac/retrieval/ranking"
	"almanac/retrieval/workbench"
)

// Difference is what a change does to the results of a query.
type Difference struct {
	Query         string
	Before, After []moved
	Changed       int                // places that another record has
	Judged        []workbench.Change // of nDCG@10 in the cases that have the query
}

// moved is a result that was at another place.
type moved struct {
	retrieval.Result
	From int // its place before, from 1; 0: it was not among them
	Gone bool
}

// Differ compares two lists of results.
func Differ(query string, before, after []retrieval.Result) Difference {
	d := Difference{Query: query}
	place := func(list []retrieval.Result, record int64) int {
		return 1 + slices.IndexFunc(list, func(x retrieval.Result) bool { return x.Record == record })
	}
	for i, x := range after {
		m := moved{Result: x, From: place(before, x.Record)}
		if m.From != i+1 {
			d.Changed++
		}
		d.After = append(d.After, m)
	}
	for _, x := range before {
		d.Before = append(d.Before, moved{Result: x, Gone: place(after, x.Record) == 0})
	}
	return d
}

// mostEffects is how many cases a page measures a change on.
const mostEffects = 4

// Effects measures what a change of what is live is worth on the judged cases, and notes
// it with the queries of differences.
func (p *Pages) Effects(ctx context.Context, after ranking.Named, of ...*Difference) (out []workbench.Effect,
	err error) {
	cases, err := p.Store.Cases(ctx)
	if err != nil {
		return nil, err
	}
	before, err := p.Named(ctx, ranking.Live)
	if err != nil {
		return nil, err
	}
	for _, c := range cases {
		e, err := p.Bench.Effect(ctx, c, before, after)
		if errors.Is(err, workbench.ErrUnjudged) {
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, x := range of {
			if change := e.On(x.Query); change != nil {
				x.Judged = append(x.Judged, *change)
			}
		}
		if out = append(out, e); len(out) == mostEffects {
			break
		}
	}
	return out, nil
}
