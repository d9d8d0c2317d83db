package kb

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"almanac/api/admit"
	"almanac/api/op"
	"almanac/catalog"
	"almanac/retrieval"
	"almanac/retrieval/passage"
)

// maxQuery is the number of characters of a query that are searched for. The
// rest would be analysed and embedded but add no terms (query.MaxTerms).
const maxQuery = 4_000

// retryUnavailable is the wait before the next try if no engine answered: the
// searcher tries them about as often.
const retryUnavailable = 5 * time.Second

// retryBusy is the wait before the next try of a search that was refused.
const retryBusy = time.Second

// Find searches. Its errors name the argument of the query, by its REST name.
func (b Base) Find(ctx context.Context, field string, r retrieval.Request) (retrieval.Response, error) {
	r.Query = First(r.Query, maxQuery)
	// Rankings are shorter than MaxResults, so a page beyond it is empty.
	r.Offset = min(r.Offset, retrieval.MaxResults-r.Limit)
	res, err := b.Search.Search(ctx, r)
	switch {
	case errors.Is(err, retrieval.ErrBadQuery):
		reason := strings.TrimPrefix(err.Error(), retrieval.ErrBadQuery.Error()+": ")
		return res, op.InvalidField(field, "cannot be searched for: %s", reason)
	case errors.Is(err, retrieval.ErrNotReady):
		return res, op.Loading(b.Search.Status(ctx).Progress)
	case errors.Is(err, admit.ErrBusy):
		return res, op.Unavailable(retryBusy, "%v", admit.ErrBusy)
	case errors.Is(err, retrieval.ErrUnavailable):
		return res, op.Unavailable(retryUnavailable, "%v: /status says why", retrieval.ErrUnavailable)
	}
	return res, err
}

// First returns the first n characters.
func First(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}

// Match is a search result with its record, without the body.
type Match struct {
	Record catalog.Record
	Result retrieval.Result
}

// Why is the part of a result's row that says why it was found.
type Why struct {
	Snippet string  `json:"snippet,omitempty" required:"true" doc:"why it was found, at most 300 characters"`
	Heading string  `json:"heading,omitempty" doc:"heading path of the best passage"`
	Score   float64 `json:"score,omitempty" required:"true" doc:"0 to 1; comparable within one answer only"`
}

// Why returns why the record was found.
func (m Match) Why() Why { return Why{m.Result.Snippet, m.Result.Heading, Score(m.Result.Score)} }

// sharedWords bounds the words of a reason.
const sharedWords = 8

// Shared says which words of the query are in the title and the passage of a
// result, as written there, the longest first: they tell more.
func (m Match) Shared() string {
	var words []string
	add := func(text string, spans [][2]int) {
		for _, s := range spans {
			words = append(words, strings.ToLower(text[s[0]:s[1]]))
		}
	}
	add(m.Result.Title, m.Result.TitleSpans)
	add(m.Result.Snippet, m.Result.SnippetSpans)
	slices.Sort(words)
	words = slices.Compact(words)
	slices.SortStableFunc(words, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	if len(words) == 0 {
		return "close in meaning, no word in common"
	}
	return "shares " + strings.Join(words[:min(sharedWords, len(words))], ", ")
}

// Score rounds a score to four significant digits.
func Score(x float64) float64 {
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 4, 64), 64)
	if err != nil || math.IsNaN(rounded) {
		return 0
	}
	return rounded
}

// Join returns the results with their records, without those deleted since.
func (b Base) Join(ctx context.Context, results []retrieval.Result) ([]Match, error) {
	ids := make([]int64, len(results))
	for i, x := range results {
		ids[i] = x.Record
	}
	byID, err := b.headsByID(ctx, ids)
	if err != nil {
		return nil, err
	}
	out := make([]Match, 0, len(results))
	for _, x := range results {
		if r, ok := byID[x.Record]; ok {
			out = append(out, Match{r, x})
		}
	}
	return out, nil
}

// headsByID returns records without their bodies, which share their tags and data with those of other calls.
func (b Base) headsByID(ctx context.Context, ids []int64) (map[int64]catalog.Record, error) {
	state, err := b.Catalog.LastChange(ctx)
	if err != nil {
		return nil, err
	}
	return b.heads.Get(state, ids, func(missing []int64) (map[int64]catalog.Record, error) {
		records, err := b.Catalog.Heads(ctx, missing)
		return byID(records), err
	})
}

func byID(records []catalog.Record) map[int64]catalog.Record {
	of := make(map[int64]catalog.Record, len(records))
	for _, r := range records {
		of[r.ID] = r
	}
	return of
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
}

func (s Search) request() retrieval.Request {
	r := retrieval.Request{Query: s.Query, Plain: s.Plain, Limit: s.Limit, Offset: s.Offset, Filter: s.Filter}
	r.Filter.Kinds = Names(s.Kinds)
	if s.Whole {
		r.Whole, r.Joined, r.Distinct = s.Limit, true, true
	}
	return r
}

// Names converts kinds to the filter of a search.
func Names(kinds []catalog.Kind) []string {
	var out []string
	for _, k := range kinds {
		out = append(out, string(k))
	}
	return out
}

// Found are the rows of a search.
type Found[T any] struct {
	Items    []T      `json:"items"`
	Total    int      `json:"total" doc:"number of records found"`
	Degraded []string `json:"degraded,omitempty" doc:"parts of the search that did not answer"`
	Hint     string   `json:"hint,omitempty" doc:"if nothing was found: what to try"`
}

// FindRows searches among some kinds and returns each result as its row.
func FindRows[T any](ctx context.Context, b Base, s Search, row func(Base, Match) (T, error)) (Found[T], error) {
	request := s.request()
	res, err := b.Find(ctx, s.Field, request)
	if err != nil {
		return Found[T]{}, err
	}
	found, err := b.Join(ctx, res.Results)
	if err != nil {
		return Found[T]{}, err
	}
	out := Found[T]{Items: make([]T, len(found)), Total: res.Total, Degraded: res.Degraded}
	for i, m := range found {
		if out.Items[i], err = row(b, m); err != nil {
			return Found[T]{}, err
		}
	}
	if len(found) == 0 {
		out.Hint = EmptySearch(res.Total, res.Relaxed, request.Filter)
	}
	return out, nil
}

// BestOf searches all lists of kinds concurrently and returns the best of each
// in the same order. The query is embedded once: embedders cache.
func BestOf[T any](
	ctx context.Context, b Base, s Search, lists [][]catalog.Kind, row func(Base, Match) (T, error),
) ([]Found[T], error) {
	found, errs := make([]Found[T], len(lists)), make([]error, len(lists))
	var wg sync.WaitGroup
	for i, kinds := range lists {
		wg.Go(func() {
			one := s
			one.Kinds = kinds
			found[i], errs[i] = FindRows(ctx, b, one, row)
		})
	}
	wg.Wait()
	return found, errors.Join(errs...)
}
