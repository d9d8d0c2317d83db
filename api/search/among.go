package search

import (
	"context"

	"almanac/api/kb"
	"almanac/catalog"
)

// idsOf returns the ids of the records that a list selects, for a search among
// them alone: engines filter by id, but not by tag, author or parent. The first
// id is 0, which no record has, so that a search among none finds nothing. name
// is the list's own.
func idsOf(ctx context.Context, b kb.Base, name string, q catalog.ListQuery) ([]int64, error) {
	ids, _, err := kb.Derived(ctx, b, name, 0, func(ctx context.Context) ([]int64, error) {
		records, _, err := b.Catalog.List(ctx, q)
		return recordIDs(records), err
	})
	return ids, err
}

func recordIDs(records []catalog.Record) []int64 {
	ids := make([]int64, 1, len(records)+1)
	for _, r := range records {
		ids = append(ids, r.ID)
	}
	return ids
}
