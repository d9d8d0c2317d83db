package kb

import "almanac/catalog"

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
