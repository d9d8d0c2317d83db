package library

import (
	"context"
	"path"
	"slices"

	"almanac/api/kb"
	"almanac/catalog"
)

// Shelf is where a page of documentation stands in its repository.
type Shelf struct {
	Folder        string
	Pages         []kb.Item // of the folder, in their order; at most shelfSize around the page
	Before, After *kb.Item  // in the repository; nil at its ends
}

// shelfSize is how many pages of a folder are shown beside one of them.
const shelfSize = 40

// addShelf fills in where a page of documentation stands.
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
	if err != nil {
		return err
	}
	all := shelves[r.Container]
	at := slices.IndexFunc(all, func(x kb.Item) bool { return x.RecordID == r.ID })
	if at < 0 { // it was deleted meanwhile
		return nil
	}
	s := Shelf{Folder: path.Dir(r.Path)}
	if at > 0 {
		s.Before = &all[at-1]
	}
	if at+1 < len(all) {
		s.After = &all[at+1]
	}
	here := 0
	for _, x := range all {
		if path.Dir(x.Path) != s.Folder {
			continue
		}
		if x.RecordID == r.ID {
			here = len(s.Pages)
		}
		s.Pages = append(s.Pages, x)
	}
	from := max(0, min(here-shelfSize/2, len(s.Pages)-shelfSize))
	s.Pages = s.Pages[from:min(from+shelfSize, len(s.Pages))]
	out.Shelf = &s
	return nil
}
