package search

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"almanac/api/kb"
	"almanac/api/kb/arg"
	"almanac/api/kb/find"
	"almanac/api/op"
	"almanac/catalog"
	"almanac/text/prose"
)

type projectIn struct {
	Project string `json:"project" required:"true" maxLength:"200" doc:"name or slug of an ecosystem project"`
	arg.Most
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
	Kinds: []catalog.Kind{catalog.KindProject}, MayFail: []error{op.ErrNotFound, op.ErrUnavailable},
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
	for _, c := range all[:min(in.Limit, len(all))] {
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
	near, failed := find.Rows(ctx, b, find.Search{
		Field: "project", Query: name, Kinds: []catalog.Kind{catalog.KindProject}, Limit: 3,
	}, func(_ kb.Base, m find.Match) (string, error) { return fmt.Sprintf("%q", m.Record.Title), nil })
	if failed != nil || len(near.Items) == 0 {
		return r, err
	}
	return r, op.NotFound("there is no project %q: the nearest are %s",
		prose.First(name, 80), strings.Join(near.Items, ", "))
}

// complement is a project that may work together with another.
type complement struct {
	Record catalog.Record
	Score  float64 // 0 to 1; comparable for one project only
	Why    []string
}

// What speaks for two projects working together. What one looks for and the
// other is counts most; what both build on, less.
const (
	weightSeeks  = 3.0 // the one seeks the other's category
	weightLabel  = 2.0 // or one of its labels
	weightApp    = 1.5 // both run the same application
	weightSDK    = 1.0 // both build on the same library; times its rarity
	weightShared = 0.5 // both have the same label; times its rarity
)

// complements ranks the other projects by what speaks for working together with
// one: what each seeks and the other has as category or label, in both
// directions, and applications, libraries and labels that both have. A library
// or label counts by its rarity, log(N/n)/log(N) for n of N projects that have
// it (inverse document frequency: Spärck Jones, 1972). Shared labels and
// libraries alone make a competitor, so without something that is sought, or a
// shared application, a project is left out; so are retired projects and those of
// the same organisation. Scores are divided by the best.
func complements(of catalog.Record, projects []catalog.Record) []complement {
	all := make([]offer, 0, len(projects))
	number := map[string]int{}
	for _, p := range projects {
		o := offerOf(p)
		all = append(all, o)
		for _, name := range slices.Concat(o.labels, o.sdks) {
			number[name]++
		}
	}
	rarity := func(name string) float64 {
		if len(all) < 2 {
			return 0
		}
		return math.Log(float64(len(all))/float64(max(1, number[name]))) / math.Log(float64(len(all)))
	}
	one := offerOf(of)
	var out []complement
	for _, other := range all {
		if other.record.ID == of.ID || other.record.State == catalog.ProjectRetired ||
			one.organisation != "" && one.organisation == other.organisation {
			continue
		}
		if c := one.with(other, rarity); c.Score > 0 {
			out = append(out, c)
		}
	}
	slices.SortFunc(out, func(a, b complement) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Record.Key, b.Record.Key))
	})
	for i := len(out) - 1; i >= 0; i-- {
		out[i].Score /= out[0].Score
	}
	return out
}

// offer is what a project has and seeks, names folded.
type offer struct {
	record              catalog.Record
	organisation        string
	category            string
	labels, seeks, sdks []string
	apps                []string
}

func offerOf(r catalog.Record) offer {
	d, _ := catalog.Decode[catalog.Project](r) // data of another form offers nothing
	o := offer{record: r, organisation: term(d.Organisation), category: term(r.Category), apps: d.Apps}
	for _, t := range r.Tags {
		if label, ok := strings.CutPrefix(t, catalog.TagLabel+":"); ok {
			o.labels = append(o.labels, term(label))
		}
	}
	for _, s := range d.Seeks {
		o.seeks = append(o.seeks, term(s))
	}
	for _, s := range d.SDKs {
		o.sdks = append(o.sdks, catalog.Fold(s.Name))
	}
	for _, list := range []*[]string{&o.labels, &o.seeks, &o.sdks} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
	return o
}

// term folds a category or label: "Developer-Tools" is developer tools.
func term(s string) string { return catalog.Fold(strings.NewReplacer("-", " ", "_", " ").Replace(s)) }

func (o offer) with(other offer, rarity func(string) float64) complement {
	c := complement{Record: other.record}
	add := func(weight float64, format string, args ...any) {
		c.Score += weight
		c.Why = append(c.Why, fmt.Sprintf(format, args...))
	}
	for _, want := range o.seeks {
		if weight, as := other.has(want); weight > 0 {
			add(weight, "%s seeks %s, the %s of %s", o.record.Title, want, as, other.record.Title)
		}
	}
	for _, want := range other.seeks {
		if weight, as := o.has(want); weight > 0 {
			add(weight, "%s seeks %s, the %s of %s", other.record.Title, want, as, o.record.Title)
		}
	}
	if shared := both(o.apps, other.apps); len(shared) > 0 {
		add(weightApp, "both run the same application")
	}
	if c.Score == 0 {
		return c
	}
	for _, shared := range []struct {
		names  []string
		weight float64
		say    string
	}{
		{both(o.sdks, other.sdks), weightSDK, "both build on %s"},
		{both(o.labels, other.labels), weightShared, "both are about %s"},
	} {
		for _, name := range shared.names {
			add(shared.weight*rarity(name), shared.say, name)
		}
	}
	return c
}

// has returns the weight of a sought term and what it is of the project: its category
// or a label; 0 if it is neither.
func (o offer) has(want string) (weight float64, as string) {
	switch {
	case want == o.category:
		return weightSeeks, "category"
	case slices.Contains(o.labels, want):
		return weightLabel, "label"
	}
	return 0, ""
}

func both(a, b []string) []string {
	var out []string
	for _, s := range a {
		if slices.Contains(b, s) {
			out = append(out, s)
		}
	}
	return out
}
