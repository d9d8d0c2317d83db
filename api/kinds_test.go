package api_test

import (
	"slices"
	"testing"

	"almanac/api/kb"
	"almanac/catalog"
)

// A kind that is added is told apart everywhere: it has a page, and what people
// say is marked as theirs.
func TestEveryKindIsToldApart(t *testing.T) {
	pages := map[catalog.Kind]int{}
	for _, k := range kb.PageKinds {
		pages[k.Kind]++
	}
	for _, info := range catalog.Kinds {
		if pages[info.Kind] != 1 {
			t.Errorf("%s has %d rows of pages", info.Kind, pages[info.Kind])
		}
		conversation := slices.Contains(
			[]catalog.Role{catalog.RoleThread, catalog.RoleWork, catalog.RoleMessage}, info.Role)
		if conversation && !kb.ThirdParty(catalog.Record{Kind: info.Kind}) {
			t.Errorf("%s would be quoted as the network's own", info.Kind)
		}
	}
}
