package releases

import (
	"context"
	"errors"
	"slices"
	"strings"

	"almanac/api/kb"
	"almanac/api/kb/find"
	"almanac/api/op"
	"almanac/catalog"
)

// Comparison is the equivalent of a concept of EVM chains.
type Comparison struct {
	Concept string   `json:"concept" doc:"as asked"`
	Mapping *Mapping `json:"mapping" doc:"null: nothing is known of it"`
	Matched string   `json:"matched,omitempty" doc:"name: it is called so; search: it is the nearest found"`
	Others  []string `json:"others" doc:"other concepts that a search finds; if nothing is known of it, all there are"`
	Hint    string   `json:"hint,omitempty" doc:"if nothing is known of it: what to try"`
}

// Mapping is a concept of EVM chains with what takes its place.
type Mapping struct {
	kb.Named
	Equivalent string              `json:"equivalent"`
	Content    string              `json:"content" doc:"explanation, differences and code, in Markdown"`
	Related    []catalog.NamedLink `json:"related"`
}

type conceptIn struct {
	Concept string `json:"concept" required:"true" maxLength:"1000" doc:"of EVM chains, such as gas or msg.sender"`
}

// conceptsFound is how many concepts a search is asked for.
const conceptsFound = 4

var evm = kb.New(op.Spec{
	ID: "compare_to_evm", Tool: "compare_to_evm", MayFail: unavailable, Kinds: []catalog.Kind{catalog.KindEVMMapping},
	Doc: `
Compare to EVM
What takes the place of one concept of EVM chains.

Maps one concept of EVM chains, by name or in your own words, to what takes its place here, with the differences and
code. For a whole path from EVM use get_started_guide.
`,
}, func(ctx context.Context, b kb.Base, in conceptIn) (out Comparison, err error) {
	out.Concept = in.Concept
	kind := []catalog.Kind{catalog.KindEVMMapping}
	s := find.Search{Field: "concept", Query: in.Concept, Kinds: kind, Limit: conceptsFound}
	found, err := s.Run(ctx, b)
	if err != nil {
		return out, err
	}
	others := find.Records(found.Items)
	named, err := b.Catalog.Head(ctx, called(catalog.KindEVMMapping, in.Concept))
	switch {
	case err == nil:
		out.Matched = "name"
		others = slices.DeleteFunc(others, func(r catalog.Record) bool { return r.ID == named.ID })
	case !errors.Is(err, catalog.ErrNotFound):
		return out, err
	case len(others) > 0:
		named, others, out.Matched = others[0], others[1:], "search"
	default:
		others, _, err = b.Catalog.List(ctx, catalog.ListQuery{Kinds: kind, Order: catalog.ByTitle})
	}
	for _, r := range others {
		out.Others = append(out.Others, r.Title)
	}
	if out.Matched == "" {
		out.Hint = kb.NoSuch("concept", in.Concept, out.Others)
		return out, err
	}
	r, err := b.Catalog.ByID(ctx, named.ID)
	if err != nil {
		return out, err
	}
	d, err := kb.Decode[catalog.EVMMapping](r)
	out.Mapping = &Mapping{b.Named(r), d.Equivalent, r.Body, d.Related}
	return out, err
})

// called names a curated record by its key or an alias: in lower case it has
// both.
func called(kind catalog.Kind, name string) catalog.Ref {
	return catalog.Ref{Kind: kind, Key: strings.ToLower(strings.TrimSpace(name))}
}
