package cips

import (
	"fmt"
	"slices"
	"testing"

	"almanac/catalog"
)

// TestPrerequisites holds the order and depth of the walk, every dependent, and
// that a cycle and a proposal that is not in the catalog end it.
func TestPrerequisites(t *testing.T) {
	records := map[string]catalog.Record{"TIP-9": {Kind: catalog.KindCIP, Key: "TIP-9"}} // has no id
	for i, state := range []string{"Draft", "Final", "Review", "Final"} {
		key := fmt.Sprintf("TIP-%d", i+1)
		records[key] = catalog.Record{ID: int64(i + 1), Kind: catalog.KindCIP, Key: key, State: state}
	}
	var graph []requirement
	for _, link := range [][2]string{
		{"TIP-3", "TIP-4"}, {"TIP-1", "TIP-3"}, {"TIP-1", "TIP-2"}, {"TIP-1", "TIP-2"}, {"TIP-2", "TIP-3"},
		{"TIP-4", "TIP-1"}, {"TIP-4", "TIP-9"},
	} {
		graph = append(graph, requirement{From: records[link[0]].ID, To: records[link[1]]})
	}
	grant := catalog.Record{ID: 7, Kind: catalog.KindGrant, Key: "31"}
	fromGrant := append([]requirement{{From: grant.ID, To: records["TIP-3"]}}, graph...)
	for _, c := range []struct {
		start catalog.Record
		key   string
		graph []requirement
		want  []string
	}{
		{records["TIP-1"], "TIP-1", graph, []string{
			"TIP-3 1 [TIP-1 TIP-2] false", "TIP-2 1 [TIP-1] true", "TIP-4 2 [TIP-3] true", "TIP-9 3 [TIP-4] false",
		}},
		{grant, "PR-31", fromGrant, []string{
			"TIP-3 1 [PR-31 TIP-1 TIP-2] false", "TIP-4 2 [TIP-3] true", "TIP-1 3 [TIP-4] false",
			"TIP-9 3 [TIP-4] false", "TIP-2 4 [TIP-1] true",
		}},
		{grant, "PR-31", graph, nil},
	} {
		var got []string
		for _, p := range prerequisites(c.start, c.key, c.graph) {
			got = append(got, fmt.Sprintf("%s %d %v %t", p.Proposal.Key, p.Depth, p.RequiredBy, p.Final))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.key, got, c.want)
		}
	}
}
