package library

import (
	"context"

	"almanac/api/kb"
	"almanac/catalog"
)

// addShelf fills in the pages of the repository that a page of documentation stands in.
func (out *Record) addShelf(ctx context.Context, b kb.Base, r catalog.Record) error {
	if r.Kind != catalog.KindDoc {
		return nil
	}
	q := catalog.ListQuery{Kinds: []catalog.Kind{catalog.KindDoc}, Order: catalog.ByKey}
	shelves, _, err := kb.DerivedFrom(ctx, b, "shelves", 0, q, func(records []catalog.Record) map[string][]kb.Item {
		by := map[string][]kb.Item{}
		for _, x := range records {
			by[x.Container] = append(by[x.Container], b.Item(x))
		}
		return by
	})
	out.Shelf = shelves[r.Container]
	return err
}
