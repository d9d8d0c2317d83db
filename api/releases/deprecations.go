package releases

import (
	"context"
	"reflect"

	"almanac/api/kb"
	"almanac/api/kb/arg"
	"almanac/api/op"
	"almanac/catalog"
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
