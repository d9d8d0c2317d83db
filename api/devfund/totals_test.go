package devfund

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"almanac/catalog"
	"almanac/testing/recordtest"
)

func grantRecord(key, state, funding string, merged bool, labels ...string) catalog.Record {
	return recordtest.With(catalog.Record{
		Kind: catalog.KindGrant, Key: key, State: state, Tags: catalog.Tags(catalog.TagLabel, labels...),
	}, catalog.Grant{Funding: funding, Merged: merged, Labels: labels})
}

func TestGrantLandscape(t *testing.T) {
	grants := []catalog.Record{
		grantRecord("1", "open", "4,000 Harbour Coin (HC)", false, "tooling", "wallet"),
		grantRecord("2", "closed", "6,000 Harbour Coins", true, "wallet"),
		grantRecord("3", "closed", "$500", false),
		grantRecord("4", "open", "up to 9,000 HC", false, "wallet"),
		grantRecord("5", "closed", "", true, "audit"),
		grantRecord("6", "open", "1,000 HC", false),
		{Kind: catalog.KindGrant, Key: "7", Data: []byte("{")},
	}
	want := Totals{
		GrantCounts: GrantCounts{Total: 6, Open: 3, Merged: 2, Closed: 1},
		Labels: []LabelCounts{
			{Label: "wallet", GrantCounts: GrantCounts{Total: 3, Open: 2, Merged: 1}},
			{Label: "audit", GrantCounts: GrantCounts{Total: 1, Merged: 1}},
			{Label: "tooling", GrantCounts: GrantCounts{Total: 1, Open: 1}},
		},
		Unlabelled: 2,
		Funding: []Funds{
			{Unit: "HC", Proposals: 3, Requested: 11_000, Granted: 6_000, Open: 5_000},
			{Unit: "USD", Proposals: 1, Requested: 500},
		},
		Unparsed: 1, Unstated: 1,
	}
	if d := cmp.Diff(want, totalsOf(grants)); d != "" {
		t.Error(d)
	}
	if got := want.LabelNames(); !slices.Equal(got, []string{"wallet", "audit", "tooling"}) {
		t.Errorf("labels %q", got)
	}
	for label, want := range map[string][]string{"": {"1", "2", "3", "4", "5", "6", "7"}, " Wallet": {"1", "2", "4"},
		"wall": nil} {
		var got []string
		for _, r := range labelled(grants, label) {
			got = append(got, r.Key)
		}
		if !slices.Equal(got, want) {
			t.Errorf("label %q: %v, want %v", label, got, want)
		}
	}
	if got := nearestGrants(grants, 4, 3); got != "4, 3, 5" {
		t.Errorf("nearest numbers %s", got)
	}
}

func TestGrantEvents(t *testing.T) {
	grants := []catalog.Record{grantRecord("1", "open", "", false), grantRecord("2", "closed", "", true)}
	var events []catalog.Event
	for _, key := range []string{"2", "3", "1", "2"} {
		events = append(events, catalog.Event{Ref: catalog.Ref{Kind: catalog.KindGrant, Key: key}, To: "open"})
	}
	for n, want := range map[int][]string{9: {"2", "1", "2"}, 2: {"2", "1"}, 0: nil} {
		var got []string
		for _, e := range grantEvents(events, grants, n) {
			if e.Ref != e.Grant.Ref() {
				t.Errorf("%s has the grant %s", e.Ref, e.Grant.Ref())
			}
			got = append(got, e.Grant.Key)
		}
		if !slices.Equal(got, want) {
			t.Errorf("first %d: %v, want %v", n, got, want)
		}
	}
}
