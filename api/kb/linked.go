package kb

import (
	"context"
	"slices"

	"almanac/catalog"
)

// Linked is a record that refers to another, with its strongest link.
type Linked struct {
	Record catalog.Record // without its body
	Link   catalog.Link
}

// strength orders relations, the strongest first.
var strength = []catalog.Relation{
	catalog.Requires, catalog.Supersedes, catalog.Implements, catalog.Cites, catalog.References, catalog.Mentions,
}

// Linked returns the records that refer to r by its key or an alias, each once,
// newest first: a mention of a draft counts for the proposal it became. Children
// of r are left out.
func (b Base) Linked(ctx context.Context, r catalog.Record) ([]Linked, error) {
	links, err := b.linksTo(ctx, r)
	if err != nil {
		return nil, err
	}
	best := map[int64]catalog.Link{}
	var ids []int64
	for _, l := range links {
		if l.From == r.ID {
			continue
		}
		old, seen := best[l.From]
		if !seen {
			ids = append(ids, l.From)
		}
		if !seen || slices.Index(strength, l.Relation) < slices.Index(strength, old.Relation) {
			best[l.From] = l
		}
	}
	records, err := b.Catalog.Heads(ctx, ids)
	if err != nil {
		return nil, err
	}
	var out []Linked
	for _, x := range records {
		if x.Parent != r.ID {
			out = append(out, Linked{x, best[x.ID]})
		}
	}
	slices.SortStableFunc(out, func(x, y Linked) int { return Date(y.Record).Compare(Date(x.Record)) })
	return out, nil
}

func (b Base) linksTo(ctx context.Context, r catalog.Record) ([]catalog.Link, error) {
	aliases, err := b.Catalog.Aliases(ctx, r.ID)
	if err != nil {
		return nil, err
	}
	var all []catalog.Link
	for _, key := range append([]string{r.Key}, aliases...) {
		links, err := b.Catalog.LinksTo(ctx, catalog.Ref{Kind: r.Kind, Key: key})
		if err != nil {
			return nil, err
		}
		all = append(all, links...)
	}
	return all, nil
}

// Reference is a record that refers to another, in an answer.
type Reference struct {
	Item
	Relation string `json:"relation" doc:"requires, supersedes, cites, implements, references or mentions"`
	Snippet  string `json:"snippet"`
}

// Lean implements op.Leaner: what refers is read by its id, if at all.
func (r *Reference) Lean() {
	r.Item.Lean()
	r.Key, r.Path, r.Container = "", "", ""
}

// Reference makes the reference of a linked record.
func (b Base) Reference(l Linked) Reference {
	return Reference{b.Item(l.Record), string(l.Link.Relation), l.Link.Snippet}
}
