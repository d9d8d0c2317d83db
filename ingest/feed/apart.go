package feed

import (
	"strings"

	"almanac/ingest/listing"
	"almanac/text/markup"
)

// guidMark separates the address of a post from its id in a name.
const guidMark = "#"

// apart returns the posts of a feed, each once: of several with one address and
// one id the one that changed last. Posts with one address that differ by their
// ids, such as the changes that one page lists, are named by both from then on.
func apart(run *listing.Run, posts []post) []post {
	shared := map[string]bool{} // addresses
	for name := range run.Known.Items {
		if address, _, ok := strings.Cut(name, guidMark); ok {
			shared[address] = true
		}
	}
	guids := map[string]string{} // by address
	for _, p := range posts {
		if p.address != nil && p.GUID != "" {
			if other, met := guids[p.name]; met && other != p.GUID {
				shared[p.name] = true
			}
			guids[p.name] = p.GUID
		}
	}
	var all []post
	at := map[string]int{} // index of a post by its name
	for _, p := range posts {
		if p.address != nil && p.GUID != "" && shared[p.name] {
			run.Drop(p.name) // from a time when nothing shared it
			p.name, p.shared = p.name+guidMark+markName(p.GUID), true
		}
		if i, twice := at[p.name]; !twice {
			at[p.name] = len(all)
			all = append(all, p)
		} else if p.Updated.After(all[i].Updated) {
			all[i] = p
		}
	}
	return all
}

// seen reports whether an earlier run has seen a post.
func seen(run *listing.Run, p post) bool {
	_, alone := run.Known.Items[p.name]
	_, shared := run.Known.Items[p.name+guidMark+markName(p.GUID)]
	return alone || shared
}

// markName returns an id as part of a name.
func markName(guid string) string { return strings.Join(strings.Fields(markup.Clean(guid)), " ") }
