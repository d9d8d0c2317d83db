package community

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"almanac/api/kb"
	"almanac/catalog"
	"almanac/catalog/network"
	"almanac/testing/recordtest"
)

func TestCreated(t *testing.T) {
	blog := catalog.Record{ID: 7, Kind: catalog.KindBlog, Title: "Tides", Author: "Ann", CreatedAt: recordtest.Ago(3),
		URL: "https://tides.example"}
	var all []catalog.Record
	for _, kind := range newsKinds {
		all = append(all, catalog.Record{Kind: kind})
	}
	want := []Activity{{
		Kind: "new_blog_post", When: recordtest.Ago(3), ID: "7", Title: "Tides", URL: new("https://tides.example"),
		Meta: map[string]any{"record_id": int64(7), "author": "Ann"}, ThirdParty: true,
	}}
	if diff := cmp.Diff(want, createdNews(kb.Base{}, []catalog.Record{blog})); diff != "" {
		t.Error(diff)
	}
	for i, n := range createdNews(kb.Base{}, all) {
		if n.Kind == "" {
			t.Errorf("the creation of a %s has no name", newsKinds[i])
		}
	}
}

func TestStatusChanges(t *testing.T) {
	event := func(key, from, to, url string) catalog.Event {
		return catalog.Event{
			Ref: catalog.Ref{Kind: catalog.KindCIP, Key: key}, At: recordtest.Ago(2), RawFrom: from, RawTo: to, URL: url,
			Via: "header",
		}
	}
	file := catalog.Record{ID: 9, Kind: catalog.KindCIP, Key: "CIP-0007", Title: "Moorings", CreatedAt: recordtest.Ago(99)}
	got := statusChanges(kb.Base{Network: network.Network{Proposals: network.Proposals{Prefix: "CIP"}}}, []catalog.Event{
		event("CIP-0007", "", "Draft", ""), event("CIP-0007", "Draft", "Final", "u1"),
		event("PR-3", "Open", "Closed", "u2"),
	}, []catalog.Record{file})
	if len(got) != 2 {
		t.Fatalf("%d changes, want 2: the first status is none", len(got))
	}
	changed, draft := got[0], got[1]
	if changed.Kind != "cip_status_change" || changed.Title != "CIP-0007 Moorings: Draft → Final" ||
		changed.ID != "0007" || !changed.When.Equal(recordtest.Ago(2)) || changed.Meta["raw_to"] != "Final" ||
		changed.Meta["via"] != "header" {
		t.Errorf("%+v", changed)
	}
	if draft.Title != "PR-3: Open → Closed" || draft.ID != "PR-3" || draft.URL == nil || *draft.URL != "u2" {
		t.Errorf("without a file: %+v", draft)
	}
}

func TestMissingParents(t *testing.T) {
	got := missingParents([]catalog.Record{{ID: 1}, {ID: 2, Parent: 5}, {ID: 3, Parent: 1}, {ID: 4, Parent: 5},
		{ID: 6, Parent: 2}})
	if diff := cmp.Diff([]int64{5}, got); diff != "" {
		t.Error(diff)
	}
}
