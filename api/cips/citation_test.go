package cips

import (
	"fmt"
	"slices"
	"testing"

	"almanac/api/kb"
	"almanac/catalog"
)

// TestCitationsBySource holds the sources and their order, the bound of the
// samples, and where kinds without a source of their own are counted.
func TestCitationsBySource(t *testing.T) {
	var linked []kb.Linked
	for i, kind := range []catalog.Kind{
		catalog.KindPost, catalog.KindWhitepaper, catalog.KindTopic, catalog.KindAttachment, catalog.KindPost,
		catalog.KindComment, catalog.KindDoc,
	} {
		linked = append(linked, kb.Linked{Record: catalog.Record{ID: int64(i), Kind: kind}})
	}
	var got []string
	for _, s := range citationsBySource(linked, 2) {
		var ids []int64
		for _, l := range s.Samples {
			ids = append(ids, l.Record.ID)
		}
		got = append(got, fmt.Sprint(s.Name, s.Count, ids))
	}
	want := []string{
		"cips1 [3]", "forum3 [0 2]", "mail0 []", "forge1 [5]", "blog0 []", "videos0 []", "proposals0 []", "docs2 [1 6]",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
