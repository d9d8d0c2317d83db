package releases

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"almanac/api/kb/deprecated"
	"almanac/api/kb/evidence"
	"almanac/catalog"
	"almanac/text/markdown"
)

// usage is a deprecated item that a text mentions as if it were current.
type usage struct {
	Text        catalog.Record
	Deprecation catalog.Record
	Use
	At time.Time // when the text was last changed, as far as known
}

// guidanceKinds are the kinds of records that tell people what to do.
var guidanceKinds = catalog.KindsOf(catalog.RolePage, catalog.RolePublication, catalog.RoleThread,
	catalog.RoleMessage)

// usagesIn finds the texts that mention deprecated items as if they were current,
// newest text first, then the items mentioned most.
func usagesIn(texts, deprecations []catalog.Record) []usage {
	items := deprecated.Of(deprecations)
	var out []usage
	for _, text := range texts {
		if text.Kind.Role() == catalog.RoleChange { // says itself what is deprecated, or did before it was
			continue
		}
		for _, m := range items.In(text.Title, text.Body) {
			if len(m.Current) == 0 {
				continue
			}
			out = append(out, usage{
				Text: text, Deprecation: m.Record, At: cmp.Or(text.UpdatedAt, text.CreatedAt),
				Use: Use{
					Deprecated: m.Record.Title, Replacement: m.Data.Replacement, Since: m.Data.Since,
					Mentions: len(m.Current), Replaced: m.Replaced != "",
					Snippet: markdown.Clip(markdown.Inline(m.Current[0]), usageShown),
				},
			})
		}
	}
	slices.SortStableFunc(out, func(a, b usage) int {
		return cmp.Or(b.At.Compare(a.At), cmp.Compare(a.Text.ID, b.Text.ID), b.Mentions-a.Mentions,
			cmp.Compare(a.Deprecation.ID, b.Deprecation.ID))
	})
	return out
}

// Use is a deprecated item that a text mentions.
type Use struct {
	Deprecated  string `json:"deprecated" doc:"name of the item"`
	Replacement string `json:"replacement"`
	Since       string `json:"since,omitempty" doc:"version"`
	Mentions    int    `json:"mentions"`
	Replaced    bool   `json:"names_replacement" doc:"the text names the replacement too: it may be about moving to it"`
	Snippet     string `json:"snippet" doc:"around the first mention"`
}

// usageProofs are the items that are used, weighed by their share of all
// mentions.
func usageProofs(usages []usage) (out []evidence.Proof) {
	mentions, texts := map[int64]int{}, map[int64]int{}
	all := 0
	for _, u := range usages {
		id := u.Deprecation.ID
		if texts[id] == 0 {
			out = append(out, evidence.Proof{Record: u.Deprecation})
		}
		mentions[id] += u.Mentions
		texts[id]++
		all += u.Mentions
	}
	for i := range out {
		id := out[i].Record.ID
		out[i].Why = fmt.Sprintf("deprecated; mentions: %d, in texts: %d", mentions[id], texts[id])
		out[i].Weight = float64(mentions[id]) / float64(all)
	}
	return out
}

// usageShown is the maximum of a snippet, in characters.
const usageShown = 320

// deprecationNamed returns the item of a name, in any case, nil if there is
// none, and the names that there are.
func deprecationNamed(items []catalog.Record, name string) (item *catalog.Record, names []string) {
	for i, r := range items {
		names = append(names, r.Title)
		if item == nil && strings.EqualFold(r.Title, strings.TrimSpace(name)) {
			item = &items[i]
		}
	}
	return item, names
}

// mentioned returns the deprecations whose patterns a text matches, in the order
// of the text.
func mentioned(text string, deprecations []catalog.Record) []catalog.Record {
	items := deprecated.Of(deprecations)
	type first struct{ at, item int }
	var found []first
	for i, spans := range items.Find(text) {
		if len(spans) > 0 {
			found = append(found, first{spans[0][0], i})
		}
	}
	slices.SortFunc(found, func(a, b first) int { return a.at - b.at })
	out := make([]catalog.Record, len(found))
	for i, f := range found {
		out[i] = items[f.item].Record
	}
	return out
}
