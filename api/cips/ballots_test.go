package cips

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"almanac/catalog"
	"almanac/testing/recordtest"
)

func TestCountBallots(t *testing.T) {
	got := countBallots(catalog.VoteRequest{
		Votes: []catalog.Ballot{
			{Choice: "in_favour"}, {Choice: "in_favour"}, {Choice: "in_favour", Void: true}, {Choice: "against"},
			{Choice: "abstain"},
		},
		Abstained: []string{"Harbour", "Quay"},
	})
	if want := (VoteCounts{For: 2, Against: 1, Abstained: 1}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// TestVoters holds the order, the times and the choice of one voter.
func TestVoters(t *testing.T) {
	votes := []catalog.Vote{ // the newest first
		{Voter: "Harbour", Choice: "against", CastAt: recordtest.Ago(1)},
		{Voter: "Quay", Choice: "in_favour", CastAt: recordtest.Ago(2)},
		{Voter: "Anchor", Choice: "abstain", CastAt: recordtest.Ago(3)},
		{Voter: "Quay", Choice: "no_vote", CastAt: recordtest.Ago(4)},
		{Voter: "Quay", Choice: "in_favour"},
	}
	at := func(hours int) *time.Time { return new(recordtest.Ago(hours)) }
	anchor := Voter{Name: "Anchor", Cast: 1, First: at(3), Last: at(3)}
	anchor.Abstained = 1
	harbour := Voter{Name: "Harbour", Cast: 1, First: at(1), Last: at(1)}
	harbour.Against = 1
	quay := Voter{Name: "Quay", Cast: 3, First: at(4), Last: at(2)}
	quay.For, quay.Abstained = 2, 1
	for only, want := range map[string][]Voter{
		"": {quay, anchor, harbour}, " quay ": {quay}, "Reef": {},
	} {
		list, names := votersOf(votes, only)
		if d := cmp.Diff(want, list); d != "" {
			t.Errorf("%q: %s", only, d)
		}
		if !slices.Equal(names, []string{"Harbour", "Quay", "Anchor"}) {
			t.Errorf("%q: names %q", only, names)
		}
	}
}
