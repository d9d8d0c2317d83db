package search

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"almanac/api/kb"
	"almanac/api/op"
	"almanac/catalog"
)

type projectIn struct {
	Project string `json:"project" required:"true" maxLength:"200" doc:"name or slug of an ecosystem project"`
}

// Collaborations are projects that complement one.
type Collaborations struct {
	Project  kb.Named        `json:"project"`
	Category string          `json:"category"`
	Seeks    []string        `json:"seeks" doc:"tags or categories that the project looks for"`
	Items    []Collaboration `json:"items"`
	Total    int             `json:"total" doc:"number of complementary projects"`
	Method   string          `json:"method"`
	Hint     string          `json:"hint,omitempty" doc:"if there are none: why"`
}

// Collaboration is one of them.
type Collaboration struct {
	kb.Named
	Category string   `json:"category"`
	Why      []string `json:"why" doc:"what speaks for it, the strongest first"`
	Weight   float64  `json:"weight" doc:"1 for the best; comparable within one answer only"`
}

var collaborations = kb.New(op.Spec{
	ID: "find_collaboration_opportunities", Tool: "find_collaboration_opportunities",
	MayFail: []error{op.ErrNotFound, op.ErrUnavailable},
	Doc: `
Find collaboration opportunities
Projects whose offers and needs complement those of one project.

Ranks the projects that complement one: what each seeks and the other is, applications and libraries that both use. For
projects that are like it use find_similar_projects.
`,
}, func(ctx context.Context, b kb.Base, in projectIn) (Collaborations, error) {
	r, err := projectNamed(ctx, b, in.Project)
	if err != nil {
		return Collaborations{}, err
	}
	projects, _, err := b.Catalog.List(ctx, catalog.ListQuery{Kinds: []catalog.Kind{catalog.KindProject}})
	if err != nil {
		return Collaborations{}, err
	}
	d, err := kb.Decode[catalog.Project](r)
	all := complements(r, projects)
	out := Collaborations{
		Project: b.Named(r), Category: r.Category, Seeks: d.Seeks, Total: len(all), Method: "Sums 3 for a category and " +
			"2 for a label that one seeks and the other has, 1.5 for the same application; libraries (1) and labels " +
			"(0.5) that both have count by their rarity. Retired projects and those of the same organisation are left out.",
	}
	for _, c := range all[:min(found, len(all))] {
		out.Items = append(out.Items, Collaboration{b.Named(c.Record), c.Record.Category, c.Why, kb.Score(c.Score)})
	}
	if len(all) == 0 {
		out.Hint = "it names nothing that it seeks, and no project seeks what it is: try find_similar_projects"
	}
	return out, err
})

// projectNamed finds a project by name or slug; the error for an unknown one
// names the nearest that a search finds.
func projectNamed(ctx context.Context, b kb.Base, name string) (catalog.Record, error) {
	r, err := b.Titled(ctx, catalog.KindProject, "project", name)
	if !errors.Is(err, op.ErrNotFound) {
		return r, err
	}
	near, failed := kb.FindRows(ctx, b, kb.Search{
		Field: "project", Query: name, Kinds: []catalog.Kind{catalog.KindProject}, Limit: 3,
	}, func(_ kb.Base, m kb.Match) (string, error) { return fmt.Sprintf("%q", m.Record.Title), nil })
	if failed != nil || len(near.Items) == 0 {
		return r, err
	}
	return r, op.NotFound("there is no project %q: the nearest are %s", kb.First(name, 80), strings.Join(near.Items, ", "))
}
