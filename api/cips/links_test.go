package cips

import (
	"slices"
	"testing"

	"almanac/catalog"
)

// A citation from a place that is not in the list would be in no count.
func TestEveryPlaceIsCiting(t *testing.T) {
	for _, info := range catalog.Kinds {
		if !slices.Contains(citing, info.Place) {
			t.Errorf("%s is found at %s, which citations leave out", info.Kind, info.Place)
		}
	}
}
