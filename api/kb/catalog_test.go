package kb_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"almanac/api/kb"
	"almanac/api/kb/arg"
	"almanac/api/op"
	"almanac/catalog"
	"almanac/catalog/network"
	"almanac/catalog/sqlite"
	"almanac/testing/catalogfile"
	"almanac/testing/recordtest"
)

// harbour is a knowledge base over a few records: two proposals, of which the first was
// a draft; a topic with a reply; documents, an issue and two assets.
func harbour(t *testing.T) kb.Base {
	t.Helper()
	store, err := sqlite.Open(t.Context(), sqlite.Config{Path: catalogfile.Empty(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	ago := recordtest.Ago
	cip := func(key, title string, hours int, data catalog.CIP) catalog.Record {
		return recordtest.With(catalog.Record{Kind: catalog.KindCIP, Key: key, Title: title, State: "Draft",
			Category: "Tides", Path: strings.ToLower(key) + ".md", Body: "Of " + title + ".", CreatedAt: ago(hours)}, data)
	}
	doc := func(key, title string, hours int) catalog.Record {
		return catalog.Record{Kind: catalog.KindDoc, Key: key, Title: title, Path: key, Container: "pilot",
			Body: title + ".", UpdatedAt: ago(hours), Tags: []string{"product:Buoy"}}
	}
	links := func(r catalog.Relation, keys ...string) (out []catalog.Link) {
		for _, key := range keys {
			out = append(out, catalog.Link{Relation: r, Snippet: "see " + key,
				To: catalog.Ref{Kind: catalog.KindCIP, Key: key}})
		}
		return out
	}
	_, err = store.Apply(t.Context(), catalog.Batch{Source: "harbour", Entries: []catalog.Entry{
		{Record: cip("CIP-0001", "Slack water", 90, catalog.CIP{RawStatus: "Ebbing"}), Aliases: []string{"PR-7"}},
		{Record: cip("CIP-0002", "Spring tide", 80, catalog.CIP{Requires: []string{"CIP-0001"}}),
			Links: append(links(catalog.Mentions, "CIP-0001"), links(catalog.Requires, "CIP-0001")...)},
		{Record: doc("tides/slack.md", "Slack", 20), Links: links(catalog.Mentions, "PR-7", "CIP-0001", "CIP-0404")},
		{Record: doc("tides/spring.md", "Springs", 10)},
		{Record: recordtest.With(catalog.Record{Kind: catalog.KindTopic, Key: "12", Title: "Which tide?", State: "open"},
			catalog.Topic{Posts: 2})},
		{Record: recordtest.With(catalog.Record{Kind: catalog.KindPost, Key: "12/2", Title: "Re: Which tide?"},
			catalog.Post{Number: 2}), Parent: catalog.Ref{Kind: catalog.KindTopic, Key: "12"}},
		{Record: catalog.Record{Kind: catalog.KindIssue, Key: "quay/crane#5", Title: "Crane stuck"}},
		{Record: catalog.Record{Kind: catalog.KindAsset, Key: "pilots", Title: "Pilot Pence"}},
		{Record: catalog.Record{Kind: catalog.KindAsset, Key: "tugs", Title: "Tug Tokens"}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	return kb.Base{Catalog: store, PublicURL: "https://kb.example", Now: func() time.Time { return recordtest.Noon },
		Network: network.Network{Proposals: network.Proposals{Prefix: "CIP"}}}.Prepared()
}

// TestEveryNameFindsItsRecord by each way that people, tools and addresses name one.
func TestEveryNameFindsItsRecord(t *testing.T) {
	b := harbour(t)
	for name, want := range map[string]string{
		"0002": "CIP-0002", "CIP-0002": "CIP-0002", "PR-7": "CIP-0001", "tides/slack.md": "tides/slack.md",
		"doc:tides/spring.md": "tides/spring.md", "cip:2": "CIP-0002", "topic:12": "12",
		" issue:quay/crane/5 ":         "quay/crane#5",
		"https://kb.example/cips/0002": "CIP-0002", "https://kb.example/docs/tides/slack.md": "tides/slack.md",
		"/discussions/12": "12", "/issues/quay/crane/5": "quay/crane#5", "cip-0002.md": "CIP-0002",
	} {
		r, err := b.Locate(t.Context(), name)
		if err != nil || r.Key != want {
			t.Errorf("%q: %s %v, want %s", name, r.Key, err, want)
			continue
		}
		again, err := b.Locate(t.Context(), b.Item(r).ID)
		if err != nil || again.ID != r.ID {
			t.Errorf("%q by its id %s: %d %v, want %d", name, b.Item(r).ID, again.ID, err, r.ID)
		}
	}
	for _, name := range []string{"0404", "CIP-404", "12", "1999999", "tides/neap.md", "doc:tides/neap.md",
		"topic:7", "/docs/tides/neap.md", ""} {
		if r, err := b.Locate(t.Context(), name); !errors.Is(err, op.ErrNotFound) {
			t.Errorf("%q: %s %v, want not found", name, r.Key, err)
		}
	}
	post, err := b.Locate(t.Context(), "post:12/2")
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{b.ID(post), b.ID(post) + kb.SectionMark + "more"} {
		if topic, err := b.Keyed(t.Context(), catalog.KindTopic, id); err != nil || topic.Key != "12" {
			t.Errorf("the topic of post %s: %s %v", id, topic.Key, err)
		}
	}
	if r, err := b.CIPHead(t.Context(), "pr#7"); err != nil || r.Key != "CIP-0001" || r.Body != "" {
		t.Errorf("the head of a draft's proposal: %+v %v", r, err)
	}
	for _, title := range []string{"pilots", "pilot pence", "Pilot-PENCE"} {
		if r, err := b.Titled(t.Context(), catalog.KindAsset, "asset", title); err != nil || r.Key != "pilots" {
			t.Errorf("%s: %s %v", title, r.Key, err)
		}
	}
	for given, says := range map[string]string{"pilot": `did you mean "pilots"?`,
		"lamps": "there are Pilot Pence, Tug Tokens"} {
		if _, err := b.Titled(t.Context(), catalog.KindAsset, "asset", given); err == nil ||
			!strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %s", given, err, says)
		}
	}
}

// TestAnEmptyListSaysWhy and what to try.
func TestAnEmptyListSaysWhy(t *testing.T) {
	b := harbour(t)
	list := func(q catalog.ListQuery, p arg.Paging) kb.List[kb.Named] {
		t.Helper()
		l, err := kb.Rows(t.Context(), b, q, p,
			func(b kb.Base, r catalog.Record) (kb.Named, error) { return b.Named(r), nil })
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	docs := catalog.ListQuery{Kinds: []catalog.Kind{catalog.KindDoc}}
	all := list(docs, arg.Paging{Limit: 1})
	next, more := all.Next()
	if total, hint := all.Head(); total != 2 || hint != "" || next != 1 || !more || all.Items[0].ID != "tides/slack.md" ||
		all.Items[0].Container != "" {
		t.Errorf("one of two: %+v", all)
	}
	for _, tt := range []struct {
		change func(*catalog.ListQuery)
		offset int
		says   string
	}{
		{func(*catalog.ListQuery) {}, 9, "there are 2 in all: the offset is past the end"},
		{func(q *catalog.ListQuery) { q.Kinds = []catalog.Kind{catalog.KindVideo} }, 0, "nothing of this kind is indexed"},
		{func(q *catalog.ListQuery) { q.Containers = []string{"pilott"} }, 0, `did you mean "pilot"?`},
		{func(q *catalog.ListQuery) { q.Categories = []string{"Ebb"} }, 0, "no record has a category: leave it out"},
		{func(q *catalog.ListQuery) { q.Sources = []string{"canal"} }, 0, "there are harbour"},
		{func(q *catalog.ListQuery) { q.AllTags = []string{"product:Bouy"} }, 0, `did you mean "Buoy"?`},
		{func(q *catalog.ListQuery) { q.Tags, q.Author = []string{"product:Buoy"}, "nobody" }, 0, "leave a filter out"},
	} {
		q := docs
		tt.change(&q)
		var p arg.Paging
		p.Limit, p.Offset = 5, tt.offset
		l := list(q, p)
		if _, more := l.Next(); len(l.Items) > 0 || more || !strings.Contains(l.Hint, tt.says) {
			t.Errorf("%+v: %d listed, hint %q, want %q", q, len(l.Items), l.Hint, tt.says)
		}
	}
}

// TestRecordsThatReferToOneAnother holds that a mention of a draft counts for its
// proposal, and the strongest of several links.
func TestRecordsThatReferToOneAnother(t *testing.T) {
	b := harbour(t)
	first, err := b.CIP(t.Context(), "1")
	if err != nil {
		t.Fatal(err)
	}
	var said []string
	linked, err := b.Referrers(t.Context(), first)
	for _, l := range linked {
		r := b.Reference(l)
		said = append(said, r.Key+" "+r.Relation)
		if r.Lean(); r.Key != "" || r.Path != "" || r.Page != "" || r.ID == "" {
			t.Errorf("as a tool says it: %+v", r)
		}
	}
	if want := []string{"tides/slack.md mentions", "CIP-0002 requires"}; err != nil || !slices.Equal(said, want) {
		t.Errorf("%q %v, want %q", said, err, want)
	}
	slack, err := b.Record(t.Context(), "tides/slack.md")
	if err != nil {
		t.Fatal(err)
	}
	targets, err := b.Targets(t.Context(), []int64{slack.ID}, catalog.KindCIP)
	if err != nil || len(targets) != 1 || targets[0].Record.ID != first.ID {
		t.Errorf("%+v %v, want CIP-0001 once", targets, err)
	}
	missing := catalog.Ref{Kind: catalog.KindCIP, Key: "CIP-0404"}
	items, err := b.Items(t.Context(), []catalog.Ref{{Kind: catalog.KindCIP, Key: "PR-7"}, missing})
	if item := items[catalog.Ref{Kind: catalog.KindCIP, Key: "PR-7"}]; err != nil || len(items) != 1 ||
		item.ID != "0001" || item.StatusRaw != "Ebbing" {
		t.Errorf("%+v %v", items, err)
	}
	row, err := b.CIPRow(first)
	if err != nil || row.ID != "0001" || row.StatusRaw != "Ebbing" || row.Draft || row.TLDR != nil {
		t.Errorf("%+v %v", row, err)
	}
	heads, err := b.Heads(t.Context(), []int64{first.ID, slack.ID})
	bodies, bodiesErr := b.Bodies(t.Context(), []int64{first.ID})
	if err != nil || bodiesErr != nil || len(heads) != 2 || heads[slack.ID].Body != "" ||
		bodies[first.ID].Body != "Of Slack water." {
		t.Errorf("%+v %v, %+v %v", heads, err, bodies, bodiesErr)
	}
}

func TestUnansweredThreads(t *testing.T) {
	for name, tt := range map[string]struct {
		record catalog.Record
		data   any
		want   bool
	}{
		"an open topic":        {catalog.Record{Kind: catalog.KindTopic, State: "open"}, catalog.Topic{Posts: 1}, true},
		"with a reply":         {catalog.Record{Kind: catalog.KindTopic, Replies: 1}, catalog.Topic{Posts: 2}, false},
		"pinned":               {catalog.Record{Kind: catalog.KindTopic}, catalog.Topic{Posts: 1, Pinned: true}, false},
		"closed":               {catalog.Record{Kind: catalog.KindTopic, State: "closed"}, catalog.Topic{Posts: 1}, false},
		"a thread of one mail": {catalog.Record{Kind: catalog.KindMailThread}, catalog.MailThread{Messages: 1}, true},
		"of two":               {catalog.Record{Kind: catalog.KindMailThread}, catalog.MailThread{Messages: 2}, false},
		"a document":           {catalog.Record{Kind: catalog.KindDoc}, struct{}{}, false},
	} {
		if got := kb.Unanswered(recordtest.With(tt.record, tt.data)); got != tt.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestASeriesHasItsNewestState and none before anything was captured.
func TestASeriesHasItsNewestState(t *testing.T) {
	b := harbour(t)
	type level struct{ Metres float64 }
	if state, _, err := kb.Newest[level](t.Context(), b, "tide"); state != nil || err != nil {
		t.Errorf("of nothing: %v %v", state, err)
	}
	ctx, store := t.Context(), b.Catalog
	for hours, metres := range map[int]float64{3: 1.5, 1: 2.5, 2: 2} {
		s := catalog.Snapshot{Series: "tide", CapturedAt: recordtest.Ago(hours), Data: recordtest.Data(level{metres})}
		if err := store.PutSnapshot(ctx, s); err != nil {
			t.Fatal(err)
		}
	}
	state, at, err := kb.Newest[level](ctx, b, "tide")
	if err != nil || state.Metres != 2.5 || !at.Equal(recordtest.Ago(1)) {
		t.Errorf("%v at %v: %v", state, at, err)
	}
	if _, err := kb.StateOf[level](catalog.Snapshot{Series: "tide", Data: []byte("{")}); err == nil {
		t.Error("half a state is read")
	}
}
