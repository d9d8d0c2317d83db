package retrieval

import (
	"slices"
	"strings"
	"testing"

	"almanac/retrieval/query"
	"almanac/retrieval/ranking"
)

// TestAPlanSaysWhichStagesItHas: a plan is a value, and nothing else is asked.
func TestAPlanSaysWhichStagesItHas(t *testing.T) {
	fused, reranked := ranking.Profile{Order: "fusion"}, ranking.Profile{Order: ranking.Rerank}
	collapsed := ranking.Profile{Order: ranking.Rerank, Collapse: 0.9}
	for _, c := range []struct {
		plan plan
		want string
	}{
		{plan{Profile: fused}, "fusion"},
		{plan{Profile: fused, Request: Request{Apart: 3}}, "fusion apart"},
		{plan{Profile: fused, Request: Request{Diversify: true}}, "fusion diversify"},
		{plan{Profile: reranked}, "rerank floor live"},
		{plan{Profile: reranked, Request: Request{Distinct: true}}, "rerank floor live"},
		{plan{Profile: collapsed, Places: []ranking.Place{{ID: 1}}}, "rerank floor live collapse pin"},
		{plan{Profile: collapsed, Request: Request{Distinct: true, Diversify: true, Apart: 3},
			state: state{Crossed: true}},
			"rerank floor live collapse distinct thread cross-encoder apart diversify"},
		{plan{Profile: collapsed, Query: query.Query{Text: "GET /v1/berths"}},
			"rerank floor live endpoint collapse"},
		{plan{Profile: fused, state: state{Crossed: true}}, "fusion"},
	} {
		var have []string
		for _, s := range stages {
			if s.On(&c.plan) {
				have = append(have, s.Name)
			}
		}
		if got := strings.Join(have, " "); got != c.want {
			t.Errorf("%s, %+v: %s, want %s", c.plan.Profile.Order, c.plan.Request, got, c.want)
		}
	}
}

// TestStagesAreKnownByName: an explanation finds a stage by it.
func TestStagesAreKnownByName(t *testing.T) {
	var names []string
	for _, s := range stages {
		names = append(names, s.Name)
	}
	if last := scoring[len(scoring)-1]; last.Name != "floor" {
		t.Errorf("scoring ends with %s", last.Name)
	}
	if slices.Sort(names); len(slices.Compact(slices.Clone(names))) != len(names) {
		t.Errorf("two stages have one name: %v", names)
	}
}
