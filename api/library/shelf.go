package library

import (
	"context"
	"path"
	"slices"
	"strings"

	"almanac/api/kb"
	"almanac/catalog"
)

// Shelf is where a page of documentation stands in its repository.
type Shelf struct {
	Tree          []Branch // of the repository, open at the page
	Before, After *kb.Item // in the repository; nil at its ends
}

// Branch is a page or a folder of a repository.
type Branch struct {
	Depth int     // 0 at the top, deepest at most
	Page  kb.Item // of a folder its first
	Name  string  // of a folder; "" for a page
	Count int     // of the pages in a folder that is closed
}

// deepest is the depth of a branch beyond which it is not set in further.
const deepest = 4

// shelfSize is how many pages and folders of one folder are shown around those that are
// open.
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
	s := Shelf{Tree: branches(all, all[at], 0)}
	if at > 0 {
		s.Before = &all[at-1]
	}
	if at+1 < len(all) {
		s.After = &all[at+1]
	}
	out.Shelf = &s
	return nil
}

// branches are the pages and folders below the folder that pages have in common, of
// which the one that the page is in is open.
func branches(pages []kb.Item, page kb.Item, depth int) (out []Branch) {
	top := path.Dir(pages[0].Path)
	for _, x := range pages {
		for top != "." && !strings.HasPrefix(x.Path, top+"/") {
			top = path.Dir(top)
		}
	}
	if top == "." {
		top = ""
	} else {
		top += "/"
	}
	folder := func(x kb.Item) string {
		name, _, below := strings.Cut(strings.TrimPrefix(x.Path, top), "/")
		if !below {
			return ""
		}
		return name
	}
	here := 0
	for rest := pages; len(rest) > 0; {
		name, n := folder(rest[0]), 1
		for name != "" && n < len(rest) && folder(rest[n]) == name {
			n++
		}
		branch := Branch{Depth: min(depth, deepest), Page: rest[0], Name: name}
		if slices.ContainsFunc(rest[:n], func(x kb.Item) bool { return x.RecordID == page.RecordID }) {
			here = len(out)
		} else if name != "" {
			branch.Count = n
		}
		out = append(out, branch)
		rest = rest[n:]
	}
	from := max(0, min(here-shelfSize/2, len(out)-shelfSize))
	here, out = here-from, out[from:min(from+shelfSize, len(out))]
	if out[here].Name == "" {
		return out
	}
	var within []kb.Item
	for _, x := range pages {
		if folder(x) == out[here].Name {
			within = append(within, x)
		}
	}
	return slices.Insert(out, here+1, branches(within, page, depth+1)...)
}
