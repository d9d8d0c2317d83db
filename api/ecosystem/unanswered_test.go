package ecosystem

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"almanac/catalog"
	"almanac/testing/recordtest"
)

var asked = time.Date(2030, 5, 15, 12, 0, 0, 0, time.UTC)

// of makes a record with its data.
func of(t *testing.T, id int64, r catalog.Record, data any) catalog.Record {
	t.Helper()
	raw, err := catalog.Encode(data)
	if err != nil {
		t.Fatal(err)
	}
	r.ID, r.Data = id, raw
	if r.CreatedAt.IsZero() {
		r.CreatedAt = asked.AddDate(0, 0, -10)
	}
	return r
}

func TestUnansweredTopics(t *testing.T) {
	topic := func(id, views, replies int64, change func(*catalog.Record, *catalog.Topic)) catalog.Record {
		r, d := catalog.Record{Kind: catalog.KindTopic, Views: views, Replies: replies, State: "open"},
			catalog.Topic{Posts: 1 + int(replies)}
		if change != nil {
			change(&r, &d)
		}
		return of(t, id, r, d)
	}
	got, median := unansweredTopics([]catalog.Record{
		topic(1, 500, 0, nil), topic(2, 900, 0, nil), topic(3, 499, 0, nil), topic(4, 100, 5, nil),
		topic(5, 2000, 1, nil),
		topic(6, 950, 0, func(r *catalog.Record, _ *catalog.Topic) { r.State = "closed" }),
		topic(7, 960, 0, func(_ *catalog.Record, d *catalog.Topic) { d.Pinned = true }),
		topic(8, 50, 3, nil), topic(9, 60, 3, nil),
		topic(10, 970, 0, func(r *catalog.Record, _ *catalog.Topic) { r.CreatedAt = asked.Add(-71 * time.Hour) }),
		topic(11, 10, 2, nil), topic(12, 20, 2, nil), topic(13, 30, 2, nil),
		topic(14, 900, 0, func(r *catalog.Record, _ *catalog.Topic) { r.CreatedAt = asked.Add(-72 * time.Hour) }),
		topic(15, 980, 0, func(_ *catalog.Record, d *catalog.Topic) { d.Posts = 2 }),
	}, asked)
	if recordtest.IDs(got) != "2 14 1" || median != 500 {
		t.Errorf("%s, median %d", recordtest.IDs(got), median)
	}
	if none, median := unansweredTopics(nil, asked); none != nil || median != 0 {
		t.Error(none, median)
	}
}

func TestSilentThreads(t *testing.T) {
	thread := func(id int64, list string, messages, days int) catalog.Record {
		return of(t, id, catalog.Record{Kind: catalog.KindMailThread, Container: list,
			CreatedAt: asked.AddDate(0, 0, -days)},
			catalog.MailThread{Messages: messages})
	}
	got := silentThreads([]catalog.Record{
		thread(1, "talk", 1, 10), thread(2, "talk", 3, 9), thread(3, "talk", 2, 8), thread(4, "talk", 1, 5),
		thread(5, "talk", 1, 2), thread(9, "talk", 2, 2),
		thread(6, "announce", 1, 10), thread(7, "announce", 1, 9), thread(8, "announce", 2, 8),
	}, asked)
	if recordtest.IDs(got) != "4 1" { // 5 is too young, announce has one answer for three threads
		t.Error(recordtest.IDs(got))
	}
}

func TestLabelGaps(t *testing.T) {
	grant := func(id int64, state string, merged bool, labels ...string) catalog.Record {
		return of(t, id, catalog.Record{Kind: catalog.KindGrant, State: state,
			CreatedAt: asked.AddDate(0, 0, int(id))},
			catalog.Grant{Merged: merged, Labels: labels})
	}
	further := grant(20, "open", false, "tools")
	further.Parent = 1
	gaps, share := labelGaps([]catalog.Record{
		grant(1, "closed", true, "tools"), grant(2, "closed", true, "tools", "wallet"),
		grant(3, "open", false, "wallet", "research"),
		grant(4, "closed", false, "wallet"), grant(5, "open", false, "research"), grant(6, "closed", true), further,
		grant(7, "closed", false, "half"), grant(8, "closed", true, "half"),
	})
	var got []string
	for _, g := range gaps {
		got = append(got, fmt.Sprintf("%s %d/%d open %d declined %d: %s", g.Label, g.Accepted, g.Proposals, g.Open,
			g.Declined, recordtest.IDs(g.Pending)))
	}
	want := "research 0/2 open 2 declined 0: 5 3\nwallet 1/3 open 1 declined 1: 4 3"
	if strings.Join(got, "\n") != want || share != 0.5 {
		t.Errorf("%s\nshare %v", strings.Join(got, "\n"), share)
	}
	if gaps, share := labelGaps(nil); gaps != nil || share != 0 {
		t.Error(gaps, share)
	}
}

func TestAsks(t *testing.T) {
	for text, want := range map[string]bool{
		"How deep is it?": true, "Is it deep? I wonder.": true, "They said \"why?\" and left": true, "Depth: 7.": false,
		"":                          false,
		"> How deep is it?\nSeven.": false, "See https://x.example/?q=1 for it.": false, "???": false,
		"Wie tief?\n": true,
	} {
		if got := asksSomething(text); got != want {
			t.Errorf("Asks(%q) = %v", text, got)
		}
	}
}

func TestLabelGapProofs(t *testing.T) {
	g := LabelGap{Label: "docs", Pending: []catalog.Record{{ID: 3}, {ID: 2}, {ID: 1}, {ID: 4}}}
	got := g.Proofs()
	if len(got) != 2 || got[0].Record.ID != 3 || got[1].Record.ID != 2 || got[0].Weight != 0.25 ||
		got[0].Why != "proposed under docs and not accepted" {
		t.Errorf("%+v", got)
	}
}
