package releases

import (
	"context"
	"errors"

	"almanac/api/kb"
	"almanac/api/kb/arg"
	"almanac/api/kb/find"
	"almanac/api/op"
	"almanac/catalog"
)

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
