package ranking_test

import (
	"errors"
	"slices"
	"testing"

	"go.yaml.in/yaml/v3"

	"almanac/catalog"
	"almanac/retrieval/ranking"
)

// written is the base profile as a file has it, changed.
func written(t *testing.T, s ranking.Source, change func(*ranking.Profile)) string {
	t.Helper()
	p := s.Base.Profiles[0]
	change(&p)
	data, err := yaml.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestOnlyProfilesThatWorkAreSaved(t *testing.T) {
	s, _ := source(t)
	for name, r := range map[string]catalog.Revision{
		"no YAML":       {Data: "{"},
		"unknown field": {Data: "name: a\nweight: 3\n"},
		"unknown feature": {Data: written(t, s, func(p *ranking.Profile) {
			p.Fixed = map[string]float64{"luck": 1}
		})},
		"unknown retriever": {Data: written(t, s, func(p *ranking.Profile) {
			p.Lists = []ranking.List{{Retriever: "luck", Weight: 1, Depth: 1}}
		})},
		"path as name": {Name: "../a", Data: written(t, s, func(*ranking.Profile) {})},
	} {
		if _, err := ranking.SaveProfile(t.Context(), s.Store, r); !errors.Is(err, ranking.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	text := "# why\n" + written(t, s, func(p *ranking.Profile) { p.Name = "mine" })
	r, err := ranking.SaveProfile(t.Context(), s.Store, catalog.Revision{Data: text})
	if err != nil || r.Name != "mine" || r.Number != 1 || r.Data != text {
		t.Errorf("saved is %+v, %v", r, err)
	}
	_, err = ranking.SaveProfile(t.Context(), s.Store, catalog.Revision{Data: text})
	if !errors.Is(err, catalog.ErrConflict) {
		t.Errorf("a second first revision is %v", err)
	}
}

func TestRollback(t *testing.T) {
	s, _ := source(t)
	if _, err := ranking.Rollback(t.Context(), s.Store, 1, "ada", ""); !errors.Is(err, catalog.ErrNotFound) {
		t.Errorf("before the first publication: %v", err)
	}
	for n := range 3 {
		r, err := ranking.SaveProfile(t.Context(), s.Store, catalog.Revision{Base: n,
			Data: written(t, s, func(p *ranking.Profile) { p.RankK = float64(n + 1) })})
		if err != nil {
			t.Fatal(err)
		}
		_, err = s.Store.Publish(t.Context(),
			catalog.Publication{Kind: catalog.ProfileRevision, Name: r.Name, Number: r.Number}, 0)
		if err != nil {
			t.Fatal(err)
		}
	}
	got := ""
	for _, steps := range []int{2, 1, 5} { // 1 2 3, then 1, 3, and before everything
		p, err := ranking.Rollback(t.Context(), s.Store, steps, "ada", "")
		if err != nil {
			t.Fatal(err)
		}
		got += p.String() + ", "
	}
	if want := "default@1, default@3, configured, "; got != want {
		t.Errorf("in force were %s, want %s", got, want)
	}
	live, _, err := ranking.InForce(t.Context(), s.Store)
	if err != nil || len(live) != 3 || live[0].ID == 0 || live[0].By != "ada" || live[2].ID != 0 {
		t.Errorf("in force is %+v, %v", live, err)
	}
}

func TestDiffNamesFields(t *testing.T) {
	s, _ := source(t)
	a, b := s.Base.Profiles[0], s.Base.Profiles[0]
	b.RankK = 7
	b.Unweighted = append(slices.Clone(a.Unweighted), "recency")
	changes, err := ranking.Diff(a, b)
	want := []ranking.Change{{Field: "rank_k", Before: "60", After: "7"}, {Field: "unweighted.recency", After: "yes"}}
	if err != nil || !slices.Equal(changes, want) {
		t.Errorf("the changes are %+v, %v", changes, err)
	}
}
