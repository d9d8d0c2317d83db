package releases

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"almanac/api/kb"
	"almanac/api/kb/arg"
	"almanac/api/kb/deprecated"
	"almanac/api/kb/evidence"
	"almanac/api/kb/find"
	"almanac/api/op"
	"almanac/catalog"
	"almanac/text/markdown"
)

// Category is what a deprecated item is.
type Category string

// Constraints implements op.Constrained.
func (Category) Constraints() reflect.StructTag {
	return `enum:"cli,package,tool,api,workflow,other" doc:"only this category"`
}

// Deprecation is a deprecated item with its replacement.
type Deprecation struct {
	kb.Named
	Category    Category `json:"category"`
	Replacement string   `json:"replacement"`
	Since       string   `json:"since,omitempty" doc:"version"`
	Removed     string   `json:"removed,omitempty" doc:"version"`
	Install     string   `json:"install,omitempty" doc:"of the replacement"`
	Note        string   `json:"note"`
}

func deprecation(b kb.Base, r catalog.Record) (Deprecation, error) {
	d, err := kb.Decode[catalog.Deprecation](r)
	return Deprecation{b.Named(r), Category(r.Category), d.Replacement, d.Since, d.Removed, d.Install, r.Summary}, err
}

var deprecatedList = catalog.ListQuery{
	Kinds: []catalog.Kind{catalog.KindDeprecation}, States: []string{catalog.ItemDeprecated}, Order: catalog.ByTitle,
}

var deprecations = kb.New(op.Spec{
	ID: "list_deprecations", Tool: "list_deprecations", Kinds: []catalog.Kind{catalog.KindDeprecation},
	Doc: `
List deprecations
Every deprecated item with its replacement.

Lists every deprecated item of the toolchain with its replacement, by name; filter by category. To check one name use
check_deprecation.
`,
}, func(ctx context.Context, b kb.Base, in deprecationsIn) (kb.List[Deprecation], error) {
	q := deprecatedList
	q.Categories = arg.Only(in.Category, "")
	return kb.Rows(ctx, b, q, arg.Paging{}, deprecation)
})

type deprecationsIn struct {
	Category string `json:"category" enum:"cli,package,tool,api,workflow" doc:"only this category"`
}

// Verdict says whether an item is deprecated.
type Verdict struct {
	Name        string       `json:"name"`
	Result      string       `json:"result" enum:"DEPRECATED,CURRENT,NOT_FOUND"`
	Deprecation *Deprecation `json:"deprecation" doc:"null unless it is deprecated"`
	Hint        string       `json:"hint,omitempty" doc:"if it was not found: the nearest name"`
}

type checkIn struct {
	Name string `json:"name" required:"true" maxLength:"200" doc:"of a command, package, tool or API"`
}

var check = kb.New(op.Spec{
	ID: "check_deprecation", Tool: "check_deprecation", Kinds: []catalog.Kind{catalog.KindDeprecation},
	Doc: `
Is it deprecated
Whether one toolchain item is deprecated, current or unknown.

Says of one toolchain item whether it is DEPRECATED (with its replacement), CURRENT or NOT_FOUND.
`,
}, isDeprecated)

func isDeprecated(ctx context.Context, b kb.Base, in checkIn) (Verdict, error) {
	records, _, err := b.Catalog.List(ctx, catalog.ListQuery{Kinds: []catalog.Kind{catalog.KindDeprecation}})
	out := Verdict{Name: in.Name, Result: "NOT_FOUND"}
	r, names := deprecationNamed(records, in.Name)
	switch {
	case r == nil:
		out.Hint = kb.NoSuch("name", in.Name, names)
	case r.State == catalog.ItemCurrent:
		out.Result = "CURRENT"
	default:
		d, err := deprecation(b, *r)
		out.Result, out.Deprecation = "DEPRECATED", &d
		return out, err
	}
	return out, err
}

// Migrations are deprecated items with what replaces them.
type Migrations struct {
	Items     []Deprecation `json:"items" doc:"best match first; by name without q"`
	Total     int           `json:"total"`
	Toolchain []Program     `json:"toolchain" doc:"current versions of the network's main programs"`
	Hint      string        `json:"hint,omitempty" doc:"if nothing is listed: what to try"`
}

// Head says how many there are in all, and why nothing is listed.
func (m Migrations) Head() (total int, hint string) { return m.Total, m.Hint }

type migrationsIn struct {
	Query    string   `json:"q" maxLength:"4000" doc:"deprecated name, replacement or words of the note"`
	Category Category `json:"category"`
}

var migrations = kb.New(op.Spec{
	ID: "list_migrations", Path: "/api/v1/migrate", MayFail: unavailable,
	Doc: "Deprecated items with their replacements, and the current versions.",
}, func(ctx context.Context, b kb.Base, in migrationsIn) (Migrations, error) {
	records, _, err := b.Catalog.List(ctx, deprecatedList)
	if in.Query != "" {
		named, found, bad := matching(ctx, b, "q", in.Query)
		records, err = append(named, found...), errors.Join(err, bad)
	}
	if err != nil {
		return Migrations{}, err
	}
	out := Migrations{}
	for _, r := range records {
		if in.Category != "" && r.Category != string(in.Category) {
			continue
		}
		d, err := deprecation(b, r)
		if err != nil {
			return out, err
		}
		out.Items = append(out.Items, d)
	}
	if out.Total = len(out.Items); out.Total == 0 {
		out.Hint = "nothing deprecated matches: leave q or category out"
	}
	all, err := products(ctx, b)
	out.Toolchain, _ = toolchain(b, all)
	return out, err
})

// matching returns the deprecations that a query names, best first: the one whose
// name or alias it is, or those whose spellings are in it. If there is none, it
// returns what a search finds.
func matching(
	ctx context.Context, b kb.Base, field, query string,
) (named, found []catalog.Record, err error) {
	r, err := b.Catalog.Head(ctx, called(catalog.KindDeprecation, query))
	switch {
	case err == nil && r.State == catalog.ItemDeprecated:
		return []catalog.Record{r}, nil, nil
	case err != nil && !errors.Is(err, catalog.ErrNotFound):
		return nil, nil, err
	}
	all, _, err := b.Catalog.List(ctx, deprecatedList)
	if named = mentioned(query, all); err != nil || len(named) > 0 {
		return named, nil, err
	}
	s := find.Search{Field: field, Query: query, Kinds: deprecatedList.Kinds, Limit: 10}
	s.Filter.States = deprecatedList.States
	rows, err := s.Run(ctx, b)
	return nil, find.Records(rows.Items), err
}

// Migration is how to replace one deprecated symbol.
type Migration struct {
	Query  string       `json:"query"`
	Item   *Deprecation `json:"item" doc:"null: nothing deprecated is called so"`
	Others []Replaced   `json:"others" doc:"others that the query names; without item, the nearest that a search finds"`
	Hint   string       `json:"hint,omitempty" doc:"without item: what to try"`
}

// Replaced is a deprecated name with its replacement.
type Replaced struct {
	Name        string `json:"name"`
	Replacement string `json:"replacement"`
}

// othersShown is the maximum of other names in an answer.
const othersShown = 3

type migrateIn struct {
	Query string `json:"query" required:"true" maxLength:"4000" doc:"what is deprecated: a command, a package, a code"`
}

var migrate = kb.New(op.Spec{
	ID: "migrate_lookup", Tool: "migrate_lookup", MayFail: unavailable,
	Kinds: []catalog.Kind{catalog.KindDeprecation},
	Doc: `
What replaces it
Replacement, version, installation and note of one deprecated symbol.

Returns the replacement of one deprecated symbol with the version since when, how to install it, and a note. To find
texts that still mention it use outdated_guidance_detector.
`,
}, func(ctx context.Context, b kb.Base, in migrateIn) (out Migration, err error) {
	out.Query = in.Query
	named, others, err := matching(ctx, b, "query", in.Query)
	if err != nil {
		return out, err
	}
	if len(named) > 0 {
		d, err := deprecation(b, named[0])
		if err != nil {
			return out, err
		}
		out.Item, others = &d, named[1:]
	}
	for _, r := range others[:min(othersShown, len(others))] {
		d, bad := deprecation(b, r)
		err = errors.Join(err, bad)
		out.Others = append(out.Others, Replaced{d.Title, d.Replacement})
	}
	if out.Item == nil && err == nil {
		verdict, err := isDeprecated(ctx, b, checkIn{in.Query})
		if out.Hint = verdict.Hint; verdict.Result == "CURRENT" {
			out.Hint = "it is current and needs no replacement"
		}
		return out, err
	}
	return out, err
})

// DeprecationsResource is the content of kb://deprecations: every deprecated
// item with its replacement.
func DeprecationsResource(ctx context.Context, b kb.Base) (any, error) {
	return kb.Rows(ctx, b, deprecatedList, arg.Paging{}, deprecation)
}

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
