package derive

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"almanac/catalog"
	"almanac/text/markdown"
	"almanac/text/prose"
)

// sameText is the share of the words of the shorter of two texts that must also
// be in the longer one for both to count as the same.
const sameText = 0.6

// mostAlike is how many items of the same version and topic an item is compared with: the last ones. More
// releases of one version are many programs of one repository.
const mostAlike = 100

// RadarItems returns the radar items of all releases. Notes published in two
// places yield their items once, for the release with the lowest id. Curated
// items win: a release covered by one yields none. An item covers a release if
// it links to it, has its address, or names its version and product. It stops with the error of a context
// that is done.
func RadarItems(
	ctx context.Context, releases []catalog.Record, curated []catalog.Entry,
) ([]catalog.Entry, error) {
	releases = slices.SortedFunc(slices.Values(releases), func(a, b catalog.Record) int {
		return cmp.Compare(a.ID, b.ID)
	})
	told := newCuration(releases, curated)
	type place struct{ version, topic string }
	texts := map[place][]map[string]bool{}
	var out []catalog.Entry
	for _, r := range releases {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		entries := Radar(r)
		if len(entries) == 0 || told.covers(r) {
			continue
		}
		data, _ := catalog.Decode[catalog.Release](r) // decoded by Radar
		for _, e := range entries {
			at := place{data.Version, e.Record.Tags[0]}
			words := prose.WordSet(strings.Join(markdown.Words(e.Record.Body), " "))
			if slices.ContainsFunc(texts[at], func(other map[string]bool) bool {
				return overlap(words, other) >= sameText
			}) {
				continue
			}
			texts[at] = append(texts[at][max(0, len(texts[at])-mostAlike+1):], words)
			out = append(out, e)
		}
	}
	return out, nil
}

// curation tells which releases are covered by curated items.
type curation struct {
	releases  map[catalog.Ref]bool
	addresses map[string]bool
	versions  map[string]bool // "name version", folded
}

func newCuration(releases []catalog.Record, curated []catalog.Entry) curation {
	c := curation{map[catalog.Ref]bool{}, map[string]bool{}, map[string]bool{}}
	for _, e := range curated {
		for _, l := range e.Links {
			c.releases[l.To] = true
		}
		c.addresses[e.Record.URL] = true
		d, err := catalog.Decode[catalog.Radar](e.Record)
		if err != nil {
			continue
		}
		for _, name := range d.Affected {
			for _, v := range d.Versions {
				c.versions[catalog.Fold(name+" "+strings.TrimLeft(v, "vV"))] = true
			}
		}
	}
	number := map[string]int{}
	for _, r := range releases {
		number[r.URL]++
	}
	for url, n := range number { // the address of a page of many releases identifies none
		if n > 1 {
			delete(c.addresses, url)
		}
	}
	delete(c.addresses, "")
	return c
}

func (c curation) covers(r catalog.Record) bool {
	if c.releases[r.Ref()] || c.addresses[r.URL] {
		return true
	}
	d, err := catalog.Decode[catalog.Release](r)
	if err != nil || d.Version == "" {
		return false
	}
	return slices.ContainsFunc(ReleaseNames(r, d.Version),
		func(name string) bool { return c.versions[catalog.Fold(name+" "+strings.TrimLeft(d.Version, "vV"))] })
}

// ReleaseNames are the names of a release's software.
func ReleaseNames(r catalog.Record, version string) []string {
	names := []string{ProductOf(r, version), r.Category, r.Container}
	if _, name, ok := strings.Cut(r.Container, "/"); ok {
		names = append(names, name)
	}
	return slices.DeleteFunc(names, func(n string) bool { return n == "" })
}

// overlap is the overlap coefficient of two sets (Szymkiewicz and Simpson).
func overlap(a, b map[string]bool) float64 {
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(a) == 0 {
		return 0
	}
	both := 0
	for w := range a {
		if b[w] {
			both++
		}
	}
	return float64(both) / float64(len(a))
}
