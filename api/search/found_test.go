package search

import (
	"slices"
	"testing"

	"almanac/catalog"
)

// Whatever people say somewhere is searched with the voices of the community,
// and counts for its author.
func TestEveryConversationIsHeard(t *testing.T) {
	heard := slices.Concat(voiceKinds...)
	for _, k := range catalog.KindsOf(catalog.RoleThread, catalog.RoleMessage) {
		if !slices.Contains(heard, k) {
			t.Errorf("%s is in no voice of the community", k)
		}
	}
	for _, k := range catalog.KindsOf(catalog.RoleMessage) {
		if !slices.Contains(contributionKinds, k) {
			t.Errorf("%s is no contribution", k)
		}
	}
	if len(voices) != len(voiceKinds) {
		t.Errorf("%d voices of %d lists", len(voices), len(voiceKinds))
	}
}
