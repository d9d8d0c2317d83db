package operations

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"almanac/catalog"
)

// TestCountContents holds that counts of one kind are added up, and that further
// files of a grant proposal are no proposals.
func TestCountContents(t *testing.T) {
	got := countContents([]catalog.Count{
		{Kind: catalog.KindCIP, State: "Final", N: 3},
		{Kind: catalog.KindCIP, State: "Final", Source: "other", N: 1},
		{Kind: catalog.KindCIP, State: "Review", N: 2},
		{Kind: catalog.KindGrant, State: "open", TopLevel: true, N: 4},
		{Kind: catalog.KindGrant, State: "closed", TopLevel: true, N: 5},
		{Kind: catalog.KindGrant, State: "open", N: 6},
		{Kind: catalog.KindTopic, N: 7},
		{Kind: catalog.KindTopic, State: "closed", N: 8},
		{Kind: catalog.KindVideo, N: 9},
		{Kind: catalog.KindVoteRequest, N: 10},
	})
	want := Counts{
		CIPs: ProposalCounts{
			Total: 6, InReview: 2, Final: 4, ByStatus: map[string]int{"Final": 4, "Review": 2},
		},
		Proposals:   GrantCounts{Total: 9, Open: 4, Closed: 5},
		ForumTopics: 15,
		Videos:      9,
		Total:       55,
		ByKind:      map[string]int{"cip": 6, "proposal": 15, "topic": 15, "video": 9, "vote_request": 10},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}
