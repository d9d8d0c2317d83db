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

// Referrers returns the records that refer to r by its key or an alias, each once,
// newest first: a mention of a draft counts for the proposal it became. Children
// of r are left out.
func (b Base) Referrers(ctx context.Context, r catalog.Record) ([]Linked, error) {
	aliases, err := b.Catalog.Aliases(ctx, r.ID)
	if err != nil {
		return nil, err
	}
	var links []catalog.Link
	for _, key := range append([]string{r.Key}, aliases...) {
		to, err := b.Catalog.LinksTo(ctx, catalog.Ref{Kind: r.Kind, Key: key})
		if err != nil {
			return nil, err
		}
		links = append(links, to...)
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
			out = append(out, Linked{Record: x, Link: best[x.ID]})
		}
	}
	slices.SortStableFunc(out, func(x, y Linked) int { return Date(y.Record).Compare(Date(x.Record)) })
	return out, nil
}

// Targets returns the indexed records of a kind to which the records of the given ids
// refer: ordered by the id of what refers, then as stored, each once for each record
// that refers to it.
func (b Base) Targets(ctx context.Context, from []int64, kind catalog.Kind) ([]Linked, error) {
	links, err := b.Catalog.LinksFromAll(ctx, from)
	if err != nil {
		return nil, err
	}
	return b.Resolve(ctx, slices.DeleteFunc(links, func(l catalog.Link) bool { return l.To.Kind != kind }))
}

// Resolve returns the indexed records that links lead to, in the order of the links,
// each once for each record that refers to it.
func (b Base) Resolve(ctx context.Context, links []catalog.Link) ([]Linked, error) {
	refs := make([]catalog.Ref, len(links))
	for i, l := range links {
		refs[i] = l.To
	}
	heads, err := b.Catalog.HeadsOf(ctx, refs)
	if err != nil {
		return nil, err
	}
	var out []Linked
	seen := map[[2]int64]bool{}
	for _, l := range links {
		r, ok := heads[l.To]
		if pair := [2]int64{l.From, r.ID}; ok && !seen[pair] {
			seen[pair] = true
			out = append(out, Linked{Record: r, Link: l})
		}
	}
	return out, nil
}

// Items returns the items of the indexed records that references name, by key or alias.
func (b Base) Items(ctx context.Context, refs []catalog.Ref) (map[catalog.Ref]Item, error) {
	heads, err := b.Catalog.HeadsOf(ctx, refs)
	items := make(map[catalog.Ref]Item, len(heads))
	for ref, r := range heads {
		items[ref] = b.Item(r)
	}
	return items, err
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
