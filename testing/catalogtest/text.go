package catalogtest

import (
	"bytes"
	"strings"

	"almanac/catalog"
)

const ugly = "nul \x00 invalid \xff\xfe end"

var textPromises = []promise{
	{"Unicode is kept as it is", func(f fixture) {
		for _, key := range []string{"żółć", "日本語", "🦉", "e\u0301", "\u202eabc", "line\nbreak", "' OR 1=1 --"} {
			r := doc(key)
			r.Body, r.Tags = key+key, []string{key}
			f.put("docs", r)
			got := f.get(key)
			f.equal("body", got.Body, key+key)
			f.equal("tags", got.Tags, []string{key})
		}
	}},
	{"NUL and invalid UTF-8 do not fail a batch anywhere", func(f fixture) {
		r := catalog.Record{Kind: catalog.KindDoc, Key: ugly, Title: ugly, URL: ugly, Path: ugly, Container: ugly,
			State: ugly, Category: ugly, Author: ugly, Body: ugly, Summary: ugly, Tags: []string{ugly},
			Data: []byte("{\"a\":\"\xff\"}")}
		cursor := ugly
		result := f.apply(catalog.Batch{Source: ugly, Cursor: &cursor,
			Entries: []catalog.Entry{{Record: r, Aliases: []string{"alias " + ugly},
				Links: []catalog.Link{mention(ugly, ugly)},
				Votes: []catalog.Vote{{Voter: ugly, Choice: ugly, Reason: ugly, URL: ugly}}}, {Record: doc("after")}},
			Events: []catalog.Event{{Ref: ref(ugly), Field: ugly, From: ugly, To: ugly, RawFrom: ugly, RawTo: ugly,
				Via: ugly, Commit: ugly, URL: ugly, Subject: ugly}},
		})
		f.equal("result", result, catalog.Result{Created: 2})
		clean := catalog.Clean(ugly)
		got := f.get(ugly)
		f.equal("key", got.Key, clean)
		f.equal("body", got.Body, clean)
		f.equal("data", string(got.Data), `{"a":"�`+`"}`)
		f.equal("by alias", f.get("alias "+ugly).ID, got.ID)
		f.lists(catalog.ListQuery{Sources: []string{ugly}, States: []string{ugly}, Tags: []string{ugly}, Author: ugly},
			clean)
		f.equal("events", len(f.events(catalog.EventQuery{Ref: ref(ugly), Field: ugly})), 1)
		f.equal("links", len(must(f.store.LinksTo(f.ctx, ref(ugly)))), 1)
		f.equal("live", len(must(f.store.LiveKeys(f.ctx, ugly))), 2)
		f.equal("again", f.put(ugly, with("after", func(*catalog.Record) {})), catalog.Result{Unchanged: 1})
	}},
	{"NUL and invalid UTF-8 do not fail other writes", func(f fixture) {
		f.check(f.store.SetMeta(f.ctx, ugly, ugly))
		f.equal("meta", must(f.store.Meta(f.ctx, ugly)), catalog.Clean(ugly))
		f.check(f.store.SetSource(f.ctx, catalog.SourceState{Name: ugly, Kind: ugly, Error: ugly}))
		must(f.store.Enqueue(f.ctx, catalog.Request{Kind: ugly, Argument: ugly}))
		g := f.generation(ugly)
		f.equal("again", f.generation(ugly), g)
		p := catalog.Passage{ID: 1, Anchor: ugly, Section: ugly, Heading: ugly, Text: ugly,
			Places: []catalog.Place{{Anchor: ugly, Section: ugly, Heading: ugly}}}
		f.check(f.store.PutPassages(f.ctx, g.ID, batch(1, catalog.RecordPassages{Passages: []catalog.Passage{p},
			Document: ugly})))
		f.equal("documents are bytes", f.documents(g.ID), []string{"0 " + ugly})
	}},
	{"huge bodies and titles are kept whole", func(f fixture) {
		r := doc("big")
		r.Title = strings.Repeat("long title ", 10_000)
		r.Body = strings.Repeat("0123456789abcdef", 1<<17) // 2 MiB
		r.Data = data(catalog.Doc{Format: strings.Repeat("x", 1<<20)})
		f.put("docs", r)
		got := f.get("big")
		f.equal("title", got.Title == r.Title, true)
		f.equal("body", got.Body == r.Body, true)
		f.equal("data", bytes.Equal(got.Data, r.Data), true)
		f.equal("again", f.put("docs", r), catalog.Result{Unchanged: 1})
		f.lists(catalog.ListQuery{Text: "title long", Order: catalog.ByTitle}, "big")
	}},
	{"a key longer than MaxKey is refused", func(f fixture) {
		if _, err := f.store.Apply(f.ctx, catalog.Batch{Source: "docs",
			Entries: entries(doc(strings.Repeat("k", catalog.MaxKey+1)))}); err == nil {
			f.Fatal("no error")
		}
		long := strings.Repeat("1k", catalog.MaxKey/2)
		f.put("docs", doc(long))
		f.lists(catalog.ListQuery{}, long)
	}},
}
