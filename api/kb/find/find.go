// Package find turns searches into rows of answers: a Search has matches, and a function makes a row of each.
package find

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"almanac/api/kb"
	"almanac/api/kb/arg"
	"almanac/api/limit"
	"almanac/api/op"
	"almanac/catalog"
	"almanac/retrieval"
	"almanac/retrieval/passage"
	"almanac/text/prose"
)

// retryUnavailable is the wait before the next try if no engine answered: the
// searcher tries them about as often.
const retryUnavailable = 5 * time.Second

// retryBusy is the wait before the next try of a search that was refused.
const retryBusy = time.Second

// Ask searches. Its errors name the argument of the query, by its REST name.
func Ask(ctx context.Context, b kb.Base, field string, r retrieval.Request) (retrieval.Response, error) {
	// Rankings are shorter than MaxResults, so a page beyond it is empty.
	r.Offset = min(r.Offset, retrieval.MaxResults-r.Limit)
	res, err := b.Search.Search(ctx, r)
	switch {
	case errors.Is(err, retrieval.ErrBadQuery):
		reason := strings.TrimPrefix(err.Error(), retrieval.ErrBadQuery.Error()+": ")
		return res, op.InvalidField(field, "cannot be searched for: %s", reason)
	case errors.Is(err, retrieval.ErrNotReady):
		return res, op.Loading(b.Search.Status(ctx).Progress)
	case errors.Is(err, limit.ErrBusy):
		return res, op.Unavailable(retryBusy, "%v", limit.ErrBusy)
	case errors.Is(err, retrieval.ErrUnavailable):
		return res, op.Unavailable(retryUnavailable, "%v: /status says why", retrieval.ErrUnavailable)
	}
	return res, err
}

// Search is a search restricted to some kinds.
type Search struct {
	Field  string // the query's argument, by its REST name
	Query  string
	Plain  bool           // the query is a text, not typed for a search: it has no operators
	Kinds  []catalog.Kind // none: all
	Limit  int
	Offset int
	Filter passage.Filter // besides the kinds
	Whole  bool           // with whole passages, joined with the neighbours that were found too
	Bodies bool           // the records have their bodies
}

// KindNames converts kinds to the filter of a search.
func KindNames(kinds []catalog.Kind) (names []string) {
	for _, k := range kinds {
		names = append(names, string(k))
	}
	return names
}

// Among returns the filter of a search for nothing but these records: engines
// filter by id, but not by tag, category, author or parent. The first id is 0,
// which no record has, so that a search among none finds nothing.
func Among(records []catalog.Record) []int64 {
	ids := make([]int64, 1, len(records)+1)
	for _, r := range records {
		ids = append(ids, r.ID)
	}
	return ids
}

// Found are the rows of a search.
type Found[T any] struct {
	Items    []T      `json:"items"`
	Total    int      `json:"total" doc:"number of records found"`
	Degraded []string `json:"degraded,omitempty" doc:"parts of the search that did not answer"`
	Hint     string   `json:"hint,omitempty" doc:"if nothing was found: what to try; or which words no document has"`

	remark string // beside results
}

// Page returns what a search found as a page of a list.
func (f Found[T]) Page(p arg.Paging) kb.List[T] {
	return kb.List[T]{Items: f.Items, Total: f.Total, Limit: p.Limit, Offset: p.Offset, Hint: f.Hint}
}

// Run returns what the search finds.
func (s Search) Run(ctx context.Context, b kb.Base) (Found[Match], error) {
	r := retrieval.Request{Query: s.Query, Plain: s.Plain, Limit: s.Limit, Offset: s.Offset, Filter: s.Filter}
	r.Filter.Kinds = KindNames(s.Kinds)
	if s.Whole {
		r.Whole, r.Apart, r.Joined, r.Distinct = s.Limit, s.Limit, true, true
	}
	res, err := Ask(ctx, b, s.Field, r)
	if err != nil {
		return Found[Match]{}, err
	}
	out := Found[Match]{Total: res.Total, Degraded: res.Degraded, remark: Remark(res)}
	if out.Items, err = join(ctx, b, res.Results, s.Bodies); err == nil && len(out.Items) == 0 {
		out.Hint = Empty(res.Total, res.Relaxed, r.Filter)
	}
	return out, err
}

// Rows returns each match of a search as its row.
func Rows[T any](ctx context.Context, b kb.Base, s Search, row func(kb.Base, Match) (T, error)) (Found[T], error) {
	found, err := s.Run(ctx, b)
	if err != nil {
		return Found[T]{}, err
	}
	out := Found[T]{Items: make([]T, len(found.Items)), Total: found.Total, Degraded: found.Degraded,
		Hint: cmp.Or(found.Hint, found.remark)}
	for i, m := range found.Items {
		if out.Items[i], err = row(b, m); err != nil {
			return Found[T]{}, err
		}
	}
	return out, nil
}

// RunEach searches all lists of kinds concurrently and returns what each has, in the same order. The query is
// embedded once: embedders cache.
func (s Search) RunEach(ctx context.Context, b kb.Base, lists [][]catalog.Kind) ([]Found[Match], error) {
	return RowsOfEach(ctx, b, s, lists, func(_ kb.Base, m Match) (Match, error) { return m, nil })
}

// RowsOfEach is RunEach with each match as its row.
func RowsOfEach[T any](
	ctx context.Context, b kb.Base, s Search, lists [][]catalog.Kind, row func(kb.Base, Match) (T, error),
) ([]Found[T], error) {
	found, errs := make([]Found[T], len(lists)), make([]error, len(lists))
	var wg sync.WaitGroup
	for i, kinds := range lists {
		wg.Go(func() {
			one := s
			one.Kinds = kinds
			found[i], errs[i] = Rows(ctx, b, one, row)
		})
	}
	wg.Wait()
	return found, errors.Join(errs...)
}

// Remark says beside results how the query was read, if it may have been meant otherwise.
func Remark(r retrieval.Response) string { return cmp.Or(Unknown(r.Unknown), kept(r)) }

// kept says which words behind a hyphen were searched for, and how to leave the first out.
func kept(r retrieval.Response) string {
	if len(r.Kept) == 0 {
		return ""
	}
	return fmt.Sprintf("-%s is read as text, as the query looks pasted: without %[1]s search for %s", r.Kept[0],
		Without(r.Query, r.Kept[0]))
}

// Without returns a query that leaves out a word which it has behind a hyphen as text.
func Without(query, word string) string {
	words := strings.Fields(query)
	for i, x := range words {
		if x == "-"+word {
			words[i] = `-"` + word + `"`
		}
	}
	return strings.Join(words, " ")
}

// namedWords is how many unknown words of a query are named.
const namedWords = 5

// Unknown says beside results which words of the query no document has; "" if there are none.
func Unknown(words []string) string {
	if len(words) == 0 {
		return ""
	}
	said := make([]string, min(len(words), namedWords))
	for i := range said {
		said[i] = strconv.Quote(prose.First(words[i], 80))
	}
	if more := len(words) - len(said); more > 0 {
		said = append(said, fmt.Sprintf("%d more words", more))
	}
	return "no document has " + strings.Join(said, " or ") +
		": what is listed has other words of the query, or is near it in meaning"
}

// Sources are those that a search which found nothing was restricted to, by its filter or by
// an operator that left nothing over.
func Sources(f passage.Filter, relaxed []retrieval.Relaxed) []string {
	all := slices.Clone(f.Sources)
	for _, r := range relaxed {
		if names, ok := strings.CutPrefix(r.Without, "source:"); ok {
			all = append(all, strings.Split(names, ",")...)
		}
	}
	return all
}

// Empty suggests what to try if a page of results is empty. Operators
// that left nothing over are named, with what there is without them.
func Empty(total int, relaxed []retrieval.Relaxed, f passage.Filter) string {
	if total > 0 {
		return kb.PastTheEnd(total)
	}
	if len(relaxed) > 0 {
		var parts []string
		for _, r := range relaxed {
			what := r.Without
			if name, ok := strings.CutPrefix(what, "kind:"); ok {
				if kinds := KindNames(arg.SearchType(name).Kinds()); len(kinds) > 0 && !slices.Contains(kinds, name) {
					what += fmt.Sprintf(" (a type: its kinds are kind:%s)", strings.Join(kinds, ","))
				}
			}
			if strings.HasPrefix(what, `"`) && strings.Count(what, `"`) == 2 {
				what = "the quotes around " + strings.Trim(what, `"`)
			}
			parts = append(parts, fmt.Sprintf("%d without %s", r.Total, what))
		}
		return "nothing matches all of the query: there are " + strings.Join(parts, ", ")
	}
	var tries []string
	if !f.Since.IsZero() || !f.Until.IsZero() || len(f.Sources) > 0 {
		tries = append(tries, "leave out the dates and the source")
	}
	if len(f.Kinds) > 0 {
		tries = append(tries, "search everything (search with type all)")
	}
	tries = append(tries, "use fewer or other words")
	return "nothing matches: " + strings.Join(tries, ", or ")
}
