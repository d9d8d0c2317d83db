package cips

import (
	"slices"
	"testing"

	"almanac/api/kb"
	"almanac/catalog"
)

// TestImplementation holds what the evidence is, which kind decides, and
// that what only talks about a proposal is no work on it.
func TestImplementation(t *testing.T) {
	linked := func(kind catalog.Kind, relation catalog.Relation) kb.Linked {
		return kb.Linked{Record: catalog.Record{Kind: kind}, Link: catalog.Link{Relation: relation}}
	}
	talk := linked(catalog.KindTopic, catalog.Mentions)
	for _, c := range []struct {
		linked  []kb.Linked
		verdict string
		want    []catalog.Kind
	}{
		{nil, "untracked", nil},
		{[]kb.Linked{talk, linked(catalog.KindBlog, catalog.Implements)}, "untracked", nil},
		{[]kb.Linked{linked(catalog.KindGrant, catalog.Cites), talk}, "funded",
			[]catalog.Kind{catalog.KindGrant}},
		{[]kb.Linked{linked(catalog.KindGrant, catalog.Cites), linked(catalog.KindIssue, catalog.Mentions)},
			"in_progress", []catalog.Kind{catalog.KindIssue, catalog.KindGrant}},
		{[]kb.Linked{
			linked(catalog.KindRepo, catalog.Implements), linked(catalog.KindPull, catalog.Mentions),
			linked(catalog.KindRelease, catalog.Mentions),
		}, "released", []catalog.Kind{catalog.KindRelease, catalog.KindPull, catalog.KindRepo}},
	} {
		verdict, tracked := implementationOf(c.linked)
		var got []catalog.Kind
		for _, x := range tracked {
			got = append(got, x.Record.Kind)
		}
		if verdict != c.verdict || !slices.Equal(got, c.want) {
			t.Errorf("%s %q, want %s %q", verdict, got, c.verdict, c.want)
		}
	}
	_, tracked := implementationOf([]kb.Linked{linked(catalog.KindIssue, catalog.Implements)})
	if len(tracked) != 1 || tracked[0].Weight != 1 || tracked[0].Why != "it says that it implements the proposal" {
		t.Errorf("%+v", tracked)
	}
}
