package releases

import (
	"context"
	"fmt"
	"time"

	"almanac/api/kb"
	"almanac/api/kb/arg"
	"almanac/api/kb/evidence"
	"almanac/api/kb/find"
	"almanac/api/op"
	"almanac/catalog"
)

// Outdated is guidance that mentions what is deprecated.
type Outdated struct {
	Query    string     `json:"query"`
	Items    []Guidance `json:"items" doc:"newest first"`
	Total    int        `json:"total" doc:"number of texts in all"`
	Read     int        `json:"read" doc:"number of texts found for the query and read"`
	Degraded []string   `json:"degraded,omitempty" doc:"parts of the search that did not answer"`
	Hint     string     `json:"hint,omitempty" doc:"if nothing is listed: why"`
	evidence.Grounds
}

// Guidance is a text that mentions deprecated items.
type Guidance struct {
	kb.Item
	Written *time.Time `json:"written" doc:"when the text was last changed; null: not known"`
	Uses    []Use      `json:"uses" doc:"the items it mentions, most often first"`
}

// Lean implements op.Leaner: written is the date that matters here.
func (g *Guidance) Lean() {
	g.Item.Lean()
	g.Key, g.Path, g.Author = "", "", ""
}

// guidanceRead is how many texts are read for each that may be shown, and leastRead how
// many at least: most mention nothing that is deprecated.
const guidanceRead, leastRead = 5, 50

type outdatedIn struct {
	Query string `json:"query" required:"true" maxLength:"4000" doc:"topic of the guidance to check"`
	arg.Most
}

var outdated = kb.New(op.Spec{
	ID: "outdated_guidance_detector", Tool: "outdated_guidance_detector", MayFail: unavailable,
	Kinds: []catalog.Kind{catalog.KindDeprecation},
	Doc: `
Find outdated guidance
Texts on a topic that mention deprecated tools as if they were current.

Finds the documentation, posts, talks and answers on a topic that mention deprecated tools, with what replaces them,
newest first. For what replaces one symbol use migrate_lookup.
`,
}, func(ctx context.Context, b kb.Base, in outdatedIn) (Outdated, error) {
	read := max(guidanceRead*in.Limit, leastRead)
	out := Outdated{Query: in.Query, Grounds: evidence.Grounds{
		Method: fmt.Sprintf("The best %d texts of a search for the query were read for the spellings of deprecated items; "+
			"sentences that say themselves that something is replaced do not count.", read),
	}}
	s := find.Search{Field: "query", Query: in.Query, Kinds: guidanceKinds, Limit: read, Bodies: true}
	found, err := s.Run(ctx, b)
	if err != nil {
		return out, err
	}
	deprecations, _, err := b.Catalog.List(ctx, deprecatedList)
	usages := usagesIn(find.Records(found.Items), deprecations)
	out.Read, out.Degraded, out.Hint = len(found.Items), found.Degraded, found.Hint
	for i, u := range usages {
		if i == 0 || usages[i-1].Text.ID != u.Text.ID { // those of a text stand together
			out.Items = append(out.Items, Guidance{Item: b.Item(u.Text), Written: kb.Time(u.At)})
		}
		text := &out.Items[len(out.Items)-1]
		text.Uses = append(text.Uses, u.Use)
	}
	out.Total = len(out.Items)
	out.Items = out.Items[:min(in.Limit, out.Total)]
	if out.Hint == "" && len(usages) == 0 {
		out.Hint = fmt.Sprintf("none of the %d texts read mentions one of the %d items of list_deprecations",
			len(found.Items), len(deprecations))
	}
	out.Evidence = evidence.Of(b, usageProofs(usages))
	return out, err
})
