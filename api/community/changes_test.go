package community

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"almanac/catalog"
	"almanac/testing/recordtest"
)

func TestCreated(t *testing.T) {
	blog := catalog.Record{ID: 7, Kind: catalog.KindBlog, Title: "Tides", Author: "Ann", CreatedAt: recordtest.Ago(3)}
	var all []catalog.Record
	for _, kind := range newsKinds {
		all = append(all, catalog.Record{Kind: kind})
	}
	want := []news{{
		Name: "new_blog_post", At: recordtest.Ago(3), Record: blog, Title: "Tides",
		Meta: map[string]any{"record_id": int64(7), "author": "Ann"},
	}}
	if diff := cmp.Diff(want, createdNews([]catalog.Record{blog})); diff != "" {
		t.Error(diff)
	}
	for _, n := range createdNews(all) {
		if n.Name == "" {
			t.Errorf("the creation of a %s has no name", n.Record.Kind)
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
	got := statusChanges([]catalog.Event{
		event("CIP-0007", "", "Draft", ""), event("CIP-0007", "Draft", "Final", "u1"),
		event("PR-3", "Open", "Closed", "u2"),
	}, []catalog.Record{file})
	if len(got) != 2 {
		t.Fatalf("%d changes, want 2: the first status is none", len(got))
	}
	changed, draft := got[0], got[1]
	if changed.Name != "cip_status_change" || changed.Title != "CIP-0007 Moorings: Draft → Final" ||
		changed.Record.ID != 9 || !changed.At.Equal(recordtest.Ago(2)) || changed.Meta["raw_to"] != "Final" ||
		changed.Meta["via"] != "header" {
		t.Errorf("%+v", changed)
	}
	if draft.Title != "PR-3: Open → Closed" || draft.Record.ID != 0 || draft.Record.Key != "PR-3" ||
		draft.Record.Kind != catalog.KindCIP || draft.Record.URL != "u2" {
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
