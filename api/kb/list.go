package kb

import (
	"context"

	"almanac/api/kb/arg"
	"almanac/catalog"
)

// List is the form of every list.
type List[T any] struct {
	Items  []T    `json:"items"`
	Total  int    `json:"total" doc:"number of items in all"`
	Limit  int    `json:"limit,omitempty" doc:"how many were asked for; absent if all are there"`
	Offset int    `json:"offset"`
	Hint   string `json:"hint,omitempty" doc:"if nothing is listed: why, and what to try"`
}

// Next implements op.Paged.
func (l List[T]) Next() (offset int, more bool) {
	offset = l.Offset + len(l.Items)
	return offset, len(l.Items) > 0 && offset < l.Total
}

// Head says how many there are in all, and why nothing is listed.
func (l List[T]) Head() (total int, hint string) { return l.Total, l.Hint }

// Rows returns a page of the catalog, each record as its row.
func Rows[T any](
	ctx context.Context, b Base, q catalog.ListQuery, p arg.Paging, row func(Base, catalog.Record) (T, error),
) (List[T], error) {
	q.Limit, q.Offset = p.Limit, p.Offset
	records, total, err := b.Catalog.List(ctx, q)
	if err != nil {
		return List[T]{}, err
	}
	out := List[T]{Items: make([]T, len(records)), Total: total, Limit: q.Limit, Offset: q.Offset}
	for i, r := range records {
		if out.Items[i], err = row(b, r); err != nil {
			return List[T]{}, err
		}
	}
	if len(records) == 0 {
		out.Hint, err = b.emptyList(ctx, q, total)
	}
	return out, err
}
