package order_test

import (
	"slices"
	"strings"
	"testing"

	"almanac/retrieval/order"
	"almanac/retrieval/plan"
	"almanac/retrieval/query"
	"almanac/retrieval/ranking"
)

// TestAPlanSaysWhichStagesItHas: a plan is a value, and nothing else is asked.
func TestAPlanSaysWhichStagesItHas(t *testing.T) {
	fused, reranked := ranking.Profile{Order: "fusion"}, ranking.Profile{Order: plan.Rerank}
	collapsed := ranking.Profile{Order: plan.Rerank, Collapse: 0.9}
	for _, c := range []struct {
		plan plan.Plan
		want string
	}{
		{plan.Plan{Profile: fused}, "fusion"},
		{plan.Plan{Profile: fused, Request: plan.Request{Apart: 3}}, "fusion apart"},
		{plan.Plan{Profile: fused, Request: plan.Request{Diversify: true}}, "fusion diversify"},
		{plan.Plan{Profile: reranked}, "rerank floor live"},
		{plan.Plan{Profile: reranked, Request: plan.Request{Distinct: true}}, "rerank floor live"},
		{plan.Plan{Profile: collapsed, Places: []ranking.Place{{Record: 1}}}, "rerank floor live collapse pin"},
		{plan.Plan{Profile: collapsed, Request: plan.Request{Distinct: true, Diversify: true, Apart: 3},
			State: plan.State{Crossed: true}},
			"rerank floor live collapse distinct thread cross-encoder apart diversify"},
		{plan.Plan{Profile: collapsed, Query: query.Query{Text: "GET /v1/berths"}},
			"rerank floor live endpoint collapse"},
		{plan.Plan{Profile: fused, State: plan.State{Crossed: true}}, "fusion"},
	} {
		var have []string
		for _, s := range order.Stages {
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
	for _, s := range order.Stages {
		names = append(names, s.Name)
	}
	if last := order.Scoring[len(order.Scoring)-1]; last.Name != "floor" {
		t.Errorf("scoring ends with %s", last.Name)
	}
	if slices.Sort(names); len(slices.Compact(slices.Clone(names))) != len(names) {
		t.Errorf("two stages have one name: %v", names)
	}
}
