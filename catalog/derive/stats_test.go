package derive_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"almanac/catalog"
	"almanac/catalog/derive"
	"almanac/testing/recordtest"
)

func TestStats(t *testing.T) {
	counts := []catalog.Count{
		{Kind: catalog.KindCIP, State: "Final", N: 3}, {Kind: catalog.KindCIP, State: "Review", N: 2},
		{Kind: catalog.KindGrant, TopLevel: true, N: 4},
		{Kind: catalog.KindGrant, N: 5}, {Kind: catalog.KindTopic, State: "open", N: 6},
		{Kind: catalog.KindTopic, State: "closed", N: 1},
		{Kind: catalog.KindPost, N: 8}, {Kind: catalog.KindIssue, N: 9}, {Kind: catalog.KindPull, N: 10},
		{Kind: catalog.KindDoc, N: 11},
		{Kind: catalog.KindVideo, N: 12}, {Kind: catalog.KindBlog, N: 13}, {Kind: catalog.KindMailThread, N: 14},
		{Kind: catalog.KindRadar, N: 15},
	}
	cip := func(number, state string) catalog.Record {
		return recordtest.With(catalog.Record{Kind: catalog.KindCIP, State: state}, catalog.CIP{Number: number})
	}
	proposals := []catalog.Record{cip("0001", "Final"), cip("0002", "Final"), cip("0003", "Review"),
		cip("0004", "Draft"), cip("", "Review"), {Kind: catalog.KindCIP, Data: []byte("{")}}
	want := catalog.Stats{
		CIPs: 4, CIPsInReview: 1, CIPsFinal: 2, Topics: 7, Posts: 8, Issues: 9, Pulls: 10, Proposals: 4, Docs: 11,
		Videos: 12, Blogs: 13, MailThreads: 14, Radar: 15,
		RecordsByKind: map[catalog.Kind]int{
			catalog.KindCIP: 5, catalog.KindGrant: 9, catalog.KindTopic: 7, catalog.KindPost: 8,
			catalog.KindIssue: 9, catalog.KindPull: 10, catalog.KindDoc: 11, catalog.KindVideo: 12,
			catalog.KindBlog: 13, catalog.KindMailThread: 14, catalog.KindRadar: 15,
		},
	}
	if d := cmp.Diff(want, derive.Stats(counts, proposals)); d != "" {
		t.Error(d)
	}
}
