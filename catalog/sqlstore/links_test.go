package sqlstore_test

import (
	"slices"
	"strings"

	"almanac/catalog"
)

var linkPromises = []promise{
	{"links come in stored order", func(f fixture) {
		f.give("docs", catalog.Entry{Record: doc("a"), Links: []catalog.Link{
			mention("z", "one"), {Relation: catalog.Requires, To: ref("b")}, mention("c", "two"), mention("z", "three"),
		}})
		id := f.get("a").ID
		f.equal("links", f.linksFrom(id), []catalog.Link{
			{From: id, Relation: catalog.Mentions, To: ref("z"), Snippet: "one"},
			{From: id, Relation: catalog.Requires, To: ref("b")},
			{From: id, Relation: catalog.Mentions, To: ref("c"), Snippet: "two"},
			{From: id, Relation: catalog.Mentions, To: ref("z"), Snippet: "three"},
		})
	}},
	{"links can be filtered by relation", func(f fixture) {
		f.give("docs", catalog.Entry{Record: doc("a"), Links: []catalog.Link{
			mention("m", ""), {Relation: catalog.Requires, To: ref("r")}, {Relation: catalog.Cites, To: ref("c")},
		}})
		got := f.linksFrom(f.get("a").ID, catalog.Requires, catalog.Cites)
		f.equal("number", len(got), 2)
		f.equal("first", got[0].To, ref("r"))
	}},
	{"links to a missing reference are found", func(f fixture) {
		f.give("docs", catalog.Entry{Record: doc("b"), Links: []catalog.Link{mention("none", "")}},
			catalog.Entry{Record: doc("a"), Links: []catalog.Link{{Relation: catalog.Cites, To: ref("none")}}})
		links := must(f.store.LinksTo(f.ctx, ref("none")))
		f.equal("from", []int64{links[0].From, links[1].From}, []int64{f.get("b").ID, f.get("a").ID})
		f.equal("number", len(must(f.store.LinksTo(f.ctx, ref("none"), catalog.Cites))), 1)
		f.equal("of another kind", len(must(f.store.LinksTo(f.ctx, catalog.Ref{Kind: catalog.KindFAQ, Key: "none"}))), 0)
	}},
	{"links by relation are all of them, by record", func(f fixture) {
		f.give("docs", catalog.Entry{Record: doc("b"), Links: []catalog.Link{{Relation: catalog.Requires, To: ref("a")},
			mention("x", "")}},
			catalog.Entry{Record: doc("a"), Links: []catalog.Link{{Relation: catalog.Requires, To: ref("c")}}})
		links := must(f.store.LinksByRelation(f.ctx, catalog.Requires))
		f.equal("number", len(links), 2)
		f.equal("first", links[0].To, ref("a"))
	}},
	{"the links of many records are one call, by record", func(f fixture) {
		ids, keys := many(f, 1_200)
		var list []catalog.Entry
		for _, key := range keys {
			list = append(list, catalog.Entry{
				Record: catalog.Record{Kind: catalog.KindDoc, Key: key, Title: key, Tags: []string{"many"}},
				Links: []catalog.Link{mention(key+"/2", ""), {Relation: catalog.Cites, To: ref("c")},
					mention(key+"/1", "")},
			})
		}
		f.give("docs", list...)
		asked := append(tenThousand(ids), ids[0])
		slices.Reverse(asked)
		links := must(f.store.LinksFromAll(f.ctx, asked))
		f.equal("number", len(links), 3_600)
		for i, id := range ids {
			f.equal("links", links[3*i:3*i+3], f.linksFrom(id))
		}
		f.equal("by relation", must(f.store.LinksFromAll(f.ctx, ids[:2], catalog.Cites)), []catalog.Link{
			{From: ids[0], Relation: catalog.Cites, To: ref("c")},
			{From: ids[1], Relation: catalog.Cites, To: ref("c")}})
		f.equal("of nothing", len(must(f.store.LinksFromAll(f.ctx, nil))), 0)
	}},
	{"lists select what links to a reference", func(f fixture) {
		linking(f)
		f.lists(catalog.ListQuery{LinksTo: []catalog.Ref{ref("none")}}, "b", "c")
		f.lists(catalog.ListQuery{LinksTo: []catalog.Ref{ref("none")}, Relations: []catalog.Relation{catalog.Cites}},
			"c")
		f.lists(catalog.ListQuery{LinksTo: []catalog.Ref{ref("none"), ref("target")}}, "a", "b", "c")
		f.lists(catalog.ListQuery{LinksTo: []catalog.Ref{{Kind: catalog.KindFAQ, Key: "none"}}})
		f.lists(catalog.ListQuery{LinksTo: []catalog.Ref{{}}})
		got, total := f.keys(catalog.ListQuery{LinksTo: []catalog.Ref{ref("none")}, Limit: 1, Offset: 1})
		f.equal("page", got, []string{"c"})
		f.equal("total", total, 2)
	}},
	{"a list by reference counts links under all names, but not a record's own", func(f fixture) {
		linking(f)
		for _, key := range []string{"target", "old", "older"} {
			f.lists(catalog.ListQuery{LinksTo: []catalog.Ref{ref(key)}}, "a", "b")
		}
	}},
	{"a list by reference leaves tombstones out", func(f fixture) {
		linking(f)
		f.delete("docs", f.get("a").ID, f.get("target").ID)
		f.lists(catalog.ListQuery{LinksTo: []catalog.Ref{ref("target")}})
		f.lists(catalog.ListQuery{LinksTo: []catalog.Ref{ref("old")}}, "b")
	}},
	{"links are replaced as a whole", func(f fixture) {
		f.give("docs", catalog.Entry{Record: doc("a"), Links: []catalog.Link{mention("x", ""), mention("y", "")}})
		f.give("docs", catalog.Entry{Record: doc("a"), Links: []catalog.Link{mention("y", "")}})
		f.equal("to x", len(must(f.store.LinksTo(f.ctx, ref("x")))), 0)
		f.equal("from a", len(f.linksFrom(f.get("a").ID)), 1)
	}},
	{"links without a target are dropped and long snippets truncated", func(f fixture) {
		f.give("docs", catalog.Entry{Record: doc("a"), Links: []catalog.Link{
			{Relation: catalog.Mentions, To: catalog.Ref{Kind: catalog.KindDoc}},
			mention("x", strings.Repeat("é", 300)),
		}})
		links := f.linksFrom(f.get("a").ID)
		f.equal("number", len(links), 1)
		f.equal("snippet", links[0].Snippet, strings.Repeat("é", catalog.MaxSnippet))
	}},
}

// linking writes records that link to one under its names and to nothing.
func linking(f fixture) {
	f.Helper()
	f.give("docs",
		catalog.Entry{Record: doc("target"), Aliases: []string{"old", "older"}, Links: []catalog.Link{
			mention("old", ""), mention("target", "")}},
		catalog.Entry{Record: doc("a"), Links: []catalog.Link{mention("target", ""), mention("target", "again")}},
		catalog.Entry{Record: doc("b"), Links: []catalog.Link{mention("old", ""), mention("none", "")}},
		catalog.Entry{Record: doc("c"), Links: []catalog.Link{{Relation: catalog.Cites, To: ref("none")}}},
	)
}

func change(key string, n int, from, to string) catalog.Event {
	return catalog.Event{Ref: ref(key), Field: "status", At: day(n), From: from, To: to}
}

func (f fixture) events(q catalog.EventQuery) []string {
	f.Helper()
	list := must(f.store.Events(f.ctx, q))
	var out []string
	for _, e := range list {
		out = append(out, e.Ref.Key+":"+e.To)
	}
	return out
}

// history writes the events of two references, one without a record.
func history(f fixture) {
	f.Helper()
	other := change("a", 2, "", "other")
	other.Ref.Kind, other.Field = catalog.KindFAQ, "title"
	f.apply(catalog.Batch{Source: "docs", Events: []catalog.Event{
		change("a", 1, "", "Draft"), change("a", 3, "Draft", "Review"), change("b", 2, "", "Draft"),
		change("a", 3, "Review", "Final"), other,
	}})
}

var eventPromises = []promise{
	{"an event is read as it was written", func(f fixture) {
		want := catalog.Event{Ref: ref("a"), Field: "status", At: day(1), From: "Draft", To: "Final", RawFrom: "draft",
			RawTo: "Active", Via: "header", Commit: "abc", URL: "https://git.example/abc", Subject: "make it so"}
		f.apply(catalog.Batch{Source: "docs", Events: []catalog.Event{want}})
		want.Source = "docs"
		f.equal("events", must(f.store.Events(f.ctx, catalog.EventQuery{})), []catalog.Event{want})
	}},
	{"newest first, equal times in the reverse of the order written", func(f fixture) {
		history(f)
		f.equal("events", f.events(catalog.EventQuery{Ref: ref("a")}), []string{"a:Final", "a:Review", "a:Draft"})
	}},
	{"by kind, field, time and number", func(f fixture) {
		history(f)
		f.equal("kind", f.events(catalog.EventQuery{Ref: catalog.Ref{Kind: catalog.KindDoc}}),
			[]string{"a:Final", "a:Review", "b:Draft", "a:Draft"})
		f.equal("field", f.events(catalog.EventQuery{Field: "title"}), []string{"a:other"})
		f.equal("since", f.events(catalog.EventQuery{Field: "status", Since: day(3)}), []string{"a:Final", "a:Review"})
		f.equal("until", f.events(catalog.EventQuery{Field: "status", Until: day(2)}), []string{"a:Draft"})
		f.equal("limit", f.events(catalog.EventQuery{Limit: 1}), []string{"a:Final"})
	}},
	{"events of a reference are replaced as a whole", func(f fixture) {
		history(f)
		f.apply(catalog.Batch{Source: "docs", Events: []catalog.Event{change("a", 9, "", "Rejected")}})
		f.equal("a", f.events(catalog.EventQuery{Ref: ref("a")}), []string{"a:Rejected"})
		f.equal("b", f.events(catalog.EventQuery{Ref: ref("b")}), []string{"b:Draft"})
	}},
	{"of several sources that report a field's changes one counts", func(f fixture) {
		b := func(want string) {
			f.Helper()
			f.equal("b", f.events(catalog.EventQuery{Ref: ref("b"), Field: "status"}), []string{want})
			f.equal("a", len(f.events(catalog.EventQuery{Ref: ref("a"), Field: "status"})), 3)
		}
		history(f)
		title := change("b", 5, "", "Title")
		title.Field = "title"
		f.apply(catalog.Batch{Source: "index", Events: []catalog.Event{change("b", 5, "", "Final"), title}})
		b("b:Draft") // without a record, the first by name
		f.equal("another field", f.events(catalog.EventQuery{Field: "title", Ref: ref("b")}), []string{"b:Title"})
		f.put("index", doc("b"))
		b("b:Final") // the owner
		f.give("docs", catalog.Entry{Record: doc("b"), Facts: &catalog.Facts{State: "Draft"}})
		b("b:Draft") // who gives facts
		f.give("forge", catalog.Entry{Record: doc("b"), Facts: &catalog.Facts{State: "Open"}})
		b("b:Draft") // who has events at all
		f.delete("docs", f.get("b").ID)
		b("b:Final")
		f.delete("index", f.get("b").ID)
		b("b:Final") // a tombstone's owner
	}},
	{"the same events again keep their order", func(f fixture) {
		history(f)
		before := f.events(catalog.EventQuery{})
		history(f)
		f.equal("events", f.events(catalog.EventQuery{}), before)
	}},
	{"a tombstone keeps its history", func(f fixture) {
		f.put("docs", doc("a"))
		history(f)
		f.delete("docs", f.get("a").ID)
		f.equal("number", len(f.events(catalog.EventQuery{Ref: ref("a")})), 3)
	}},
}
