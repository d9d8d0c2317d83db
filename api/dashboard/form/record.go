package form

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"almanac/catalog"
	"almanac/retrieval"
	"almanac/retrieval/passage"
	"almanac/retrieval/ranking"
	"almanac/retrieval/workbench"
)

// unfound says that no record has the name which a person typed into a field.
type unfound struct {
	name, field string
	near        []catalog.Record
}

// offered is how many records it offers instead.
const offered = 3

// Unwrap makes it the answer 404.
func (unfound) Unwrap() error { return catalog.ErrNotFound }

// said is the error without what is offered.
func (e unfound) said() string {
	text := fmt.Sprintf("there is no record %q", e.name)
	if len(e.near) == 0 {
		text += "; name it kind:key, such as faq:what-is-a-validator, or by its page, id or path"
	}
	return text
}

// Error implements error.
func (e unfound) Error() string {
	text := e.said()
	for i, r := range e.near {
		text += nearest(i) + fmt.Sprintf("%s (%s)", titled(r), r.Ref().Name())
	}
	return text
}

// nearest is what stands before a record in a list of the nearest.
func nearest(i int) string {
	if i == 0 {
		return "; the nearest are "
	}
	return ", "
}

// titled is what a record is called.
func titled(r catalog.Record) string { return cmp.Or(r.Title, r.Ref().Name()) }

// Locate finds the record that a field of a form names. An error for whoever typed it says
// which are nearest.
func (p *Pages) Locate(ctx context.Context, name, field string) (catalog.Record, error) {
	if name = strings.TrimSpace(name); name == "" {
		return catalog.Record{}, Invalid("a record is to be named").In(field)
	}
	found, err := p.Find(ctx, name)
	if err == nil || failureOf(ctx, err).Status != http.StatusNotFound {
		return found, err
	}
	near, err := p.Near(ctx, name, offered)
	if err != nil {
		return found, err
	}
	return found, unfound{name, field, near}
}

// Near returns the records that somebody may mean who types a text: those that it finds, of
// one kind if it begins with kind:. While the index is loading there are none.
func (p *Pages) Near(ctx context.Context, text string, n int) ([]catalog.Record, error) {
	request := retrieval.Request{Query: text, Plain: true, Typing: true, Limit: n}
	if ref, ok := catalog.RefNamed(text); ok {
		if _, known := catalog.InfoOf(ref.Kind); known {
			request.Query, request.Filter = ref.Key, passage.Filter{Kinds: []string{string(ref.Kind)}}
		}
	}
	found, err := p.Search.Search(ctx, request)
	if errors.Is(err, retrieval.ErrBadQuery) || errors.Is(err, retrieval.ErrNotReady) { // nothing to search for, or in
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var ids []int64
	for _, x := range found.Results[:min(n, len(found.Results))] {
		ids = append(ids, x.Record)
	}
	return p.Store.Heads(ctx, ids)
}

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
