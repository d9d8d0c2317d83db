package search

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"almanac/catalog"
)

// project is one whose id and key come from its name.
func project(name, category, labels string, d catalog.Project) catalog.Record {
	raw, err := catalog.Encode(d)
	if err != nil {
		panic(err)
	}
	return catalog.Record{ID: int64(name[0]), Kind: catalog.KindProject, Key: name, Title: strings.ToUpper(name),
		Category: category, Data: raw,
		Tags: catalog.Tags(catalog.TagLabel, strings.Fields(labels)...)}
}

func TestComplements(t *testing.T) {
	seeks := func(what ...string) catalog.Project { return catalog.Project{Seeks: what} }
	sdk := func(names ...string) catalog.Project {
		p := catalog.Project{Seeks: []string{"pilot"}}
		for _, n := range names {
			p.SDKs = append(p.SDKs, catalog.Dependency{Name: n})
		}
		return p
	}
	for name, c := range map[string]struct {
		of     catalog.Record
		others []catalog.Record
		want   string
	}{
		"nobody else": {project("a", "pilot", "", seeks("tug")), nil, ""},
		"a category that is sought before a label": {project("a", "x", "", seeks("tug")),
			[]catalog.Record{project("b", "y", "tug", seeks()), project("c", "tug", "", seeks())}, "c 1.00, b 0.67"},
		"in both directions": {project("a", "pilot", "", seeks("tug")),
			[]catalog.Record{project("b", "tug", "", seeks()), project("c", "tug", "", seeks("Pilot"))},
			"c 1.00, b 0.50"},
		"hyphens and case make no difference": {project("a", "Developer tools", "", seeks()),
			[]catalog.Record{project("b", "", "", seeks("developer-tools"))}, "b 1.00"},
		"what both build on counts by its rarity": {project("a", "pilot", "", sdk("oar", "sail")),
			[]catalog.Record{project("b", "y", "", sdk("oar")), project("c", "y", "", sdk("sail")),
				project("d", "y", "", sdk("sail"))},
			"b 1.00, c 0.92, d 0.92"},
		"like ones alone are competitors": {project("a", "pilot", "fog horn", seeks()),
			[]catalog.Record{project("b", "pilot", "fog horn", seeks())}, ""},
		"the same application": {project("a", "", "", catalog.Project{Apps: []string{"app"}}),
			[]catalog.Record{project("b", "", "", catalog.Project{Apps: []string{"app"}})}, "b 1.00"},
		"not within an organisation": {project("a", "", "",
			catalog.Project{Organisation: "Reef", Seeks: []string{"tug"}}),
			[]catalog.Record{project("b", "tug", "", catalog.Project{Organisation: "REEF"})}, ""},
		"what is over is left out": {project("a", "", "", seeks("tug")),
			[]catalog.Record{{ID: 9, Key: "z", Category: "tug", State: "retired"}}, ""},
		"equals by key": {project("a", "", "", seeks("tug")),
			[]catalog.Record{project("c", "tug", "", seeks()), project("b", "tug", "", seeks())}, "b 1.00, c 1.00"},
		"data that cannot be read": {project("a", "tug", "", seeks("tug")),
			[]catalog.Record{{ID: 9, Key: "z", Category: "tug", Data: []byte("[")}}, "z 1.00"},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, x := range complements(c.of, append(c.others, c.of)) {
				got = append(got, fmt.Sprintf("%s %.2f", x.Record.Key, x.Score))
			}
			if strings.Join(got, ", ") != c.want {
				t.Errorf("%s, want %s", strings.Join(got, ", "), c.want)
			}
		})
	}
}

func TestComplementsSayWhy(t *testing.T) {
	a := project("a", "pilot", "fog",
		catalog.Project{Seeks: []string{"tug"}, SDKs: []catalog.Dependency{{Name: "oar"}}})
	b := project("b", "tug", "fog",
		catalog.Project{Seeks: []string{"pilot"}, SDKs: []catalog.Dependency{{Name: "Oar"}}})
	got := complements(a, []catalog.Record{a, b})[0].Why
	want := []string{"A seeks tug, the category of B", "B seeks pilot, the category of A", "both build on oar",
		"both are about fog"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
