package web

import (
	"path"
	"slices"
	"strings"

	"almanac/api/kb"
)

// shelf is where a page of documentation stands in its repository.
type shelf struct {
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

// Shelf is where the page's record stands, nil if it is no documentation.
func (v *view) Shelf() *shelf {
	all := v.Record.Shelf
	at := slices.IndexFunc(all, func(x kb.Item) bool { return x.RecordID == v.Record.RecordID })
	if at < 0 {
		return nil
	}
	s := shelf{Tree: branches(all, all[at], 0)}
	if at > 0 {
		s.Before = &all[at-1]
	}
	if at+1 < len(all) {
		s.After = &all[at+1]
	}
	return &s
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
