package kb

import (
	"context"
	"errors"
	"strings"
	"time"

	"almanac/api/op"
	"almanac/catalog"
	"almanac/retrieval"
)

// maxQuery is the number of characters of a query that are searched for. What
// follows adds no words (query.MaxTerms) but would be analysed and embedded.
const maxQuery = 4_000

// retryUnavailable is when to ask again after no engine answered: the
// searcher tries them about as often.
const retryUnavailable = 5 * time.Second

// Find searches. Its errors name the argument that the query came in.
func (b Base) Find(ctx context.Context, argument string, r retrieval.Request) (retrieval.Response, error) {
	r.Query = first(r.Query, maxQuery)
	// No ranking is as long as MaxResults, so that a page beyond it is empty.
	r.Offset = min(r.Offset, retrieval.MaxResults-r.Limit)
	res, err := b.Search.Search(ctx, r)
	switch {
	case errors.Is(err, retrieval.ErrBadQuery):
		return res, op.Invalid("%s: %s", argument, strings.TrimPrefix(err.Error(), retrieval.ErrBadQuery.Error()+": "))
	case errors.Is(err, retrieval.ErrNotReady):
		return res, op.Loading(b.Search.Status(ctx).Progress)
	case errors.Is(err, retrieval.ErrUnavailable):
		return res, op.Unavailable(retryUnavailable, "%v: /status says why", retrieval.ErrUnavailable)
	}
	return res, err
}

// first returns the first n characters.
func first(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}

// Found is a result with its record.
type Found struct {
	Record catalog.Record
	Result retrieval.Result
}

// Found joins results with their records, without those deleted since.
func (b Base) Found(ctx context.Context, results []retrieval.Result) ([]Found, error) {
	ids := make([]int64, len(results))
	for i, x := range results {
		ids[i] = x.Record
	}
	byID, err := b.byID(ctx, ids)
	if err != nil {
		return nil, err
	}
	out := make([]Found, 0, len(results))
	for _, x := range results {
		if r, ok := byID[x.Record]; ok {
			out = append(out, Found{r, x})
		}
	}
	return out, nil
}

func (b Base) byID(ctx context.Context, ids []int64) (map[int64]catalog.Record, error) {
	records, err := b.Catalog.Heads(ctx, ids)
	if err != nil {
		return nil, err
	}
	byID := make(map[int64]catalog.Record, len(records))
	for _, r := range records {
		byID[r.ID] = r
	}
	return byID, nil
}

// Date is when something last happened to a record: its last activity, else
// update, else creation.
func Date(r catalog.Record) time.Time {
	for _, t := range []time.Time{r.LastActivityAt, r.UpdatedAt, r.CreatedAt} {
		if !t.IsZero() {
			return t
		}
	}
	return time.Time{}
}
