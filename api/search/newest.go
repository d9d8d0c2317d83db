package search

import (
	"context"
	"slices"
	"time"

	"almanac/api/kb"
	"almanac/api/kb/find"
	"almanac/catalog"
	"almanac/retrieval"
)

// byDate is the order of results by date.
const byDate = "date"

// sorted is how many of the best results are put in the order of their dates:
// what is further down has little to do with the query.
const sorted = 200

// newest answers with the best results in the order of their dates, those
// without a date last.
func newest(ctx context.Context, b kb.Base, r retrieval.Request, kinds []catalog.Kind, in searchIn) (Answer, error) {
	first := r.Offset
	r.Limit, r.Offset, r.Whole, r.Apart, r.Diversify = sorted, 0, 0, 0, false
	a, err := answer(ctx, b, "q", r, kinds, string(in.Type), in.Highlight)
	if err != nil {
		return a, err
	}
	slices.SortStableFunc(a.Items, func(x, y find.Hit) int { return date(y).Compare(date(x)) })
	a.Total, a.offset = len(a.Items), first
	a.Items = a.Items[min(first, len(a.Items)):min(first+in.Limit, len(a.Items))]
	return a, nil
}

func date(h find.Hit) time.Time {
	if h.Date == nil {
		return time.Time{}
	}
	return *h.Date
}
