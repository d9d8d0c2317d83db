package sqlstore_test

import (
	"strings"
	"time"

	"almanac/catalog"
)

// library writes a small collection that the filters distinguish.
func library(f fixture) {
	f.Helper()
	r := func(kind catalog.Kind, key string, change func(*catalog.Record)) catalog.Record {
		r := catalog.Record{Kind: kind, Key: key, Title: key}
		change(&r)
		return r
	}
	f.put("docs",
		r(catalog.KindDoc, "a", func(r *catalog.Record) {
			r.Container, r.State, r.Category, r.Author = "Example/Docs", "Open", "Guide", "Ada Sample"
			r.Tags, r.CreatedAt, r.Replies = []string{"node", "setup"}, day(1), 1
		}),
		r(catalog.KindDoc, "b", func(r *catalog.Record) {
			r.Container, r.State, r.Category, r.Author = "example/other", "closed", "Reference", "Bob Sample"
			r.Tags, r.CreatedAt = []string{"setup"}, day(2)
		}),
		r(catalog.KindFAQ, "c", func(r *catalog.Record) {
			r.Title, r.State, r.CreatedAt = "100%_Émile \\ ok", "open", day(3)
		}),
	)
	child := r(catalog.KindPost, "d", func(r *catalog.Record) { r.Author, r.Body = "ada sample", "text" })
	f.give("forum", catalog.Entry{Record: child, Parent: ref("a")})
}

// filters are promises about single fields of a query over library.
func filters() []promise {
	id := func(f fixture) int64 { return f.get("a").ID }
	list := func(name string, want string, query func(f fixture) catalog.ListQuery) promise {
		return promise{name, func(f fixture) {
			library(f)
			f.lists(query(f), strings.Fields(want)...)
		}}
	}
	plain := func(name, want string, q catalog.ListQuery) promise {
		return list(name, want, func(fixture) catalog.ListQuery { return q })
	}
	return []promise{
		plain("an empty query selects everything", "a b c d", catalog.ListQuery{}),
		plain("by kind", "a b", catalog.ListQuery{Kinds: []catalog.Kind{catalog.KindDoc}}),
		plain("by several kinds", "a b d", catalog.ListQuery{Kinds: []catalog.Kind{catalog.KindDoc, catalog.KindPost}}),
		plain("by source", "d", catalog.ListQuery{Sources: []string{"forum"}}),
		plain("by container without regard to case", "a", catalog.ListQuery{Containers: []string{"EXAMPLE/docs"}}),
		plain("by state without regard to case", "a c", catalog.ListQuery{States: []string{"OPEN"}}),
		plain("by several states", "a b c", catalog.ListQuery{States: []string{"open", "Closed"}}),
		plain("by the empty state", "d", catalog.ListQuery{States: []string{""}}),
		plain("by category without regard to case", "b", catalog.ListQuery{Categories: []string{"reference"}}),
		plain("by a part of the category, folded", "a", catalog.ListQuery{CategoryContains: " UID"}),
		plain("a part of the title or the author does not match the category", "",
			catalog.ListQuery{CategoryContains: "a"}),
		plain("wildcards in a part of the category are literal", "", catalog.ListQuery{CategoryContains: "g%e"}),
		plain("a blank part of the category selects everything", "a b c d", catalog.ListQuery{CategoryContains: " "}),
		plain("by all of the tags", "a", catalog.ListQuery{AllTags: []string{"setup", "node"}}),
		plain("by all and any of the tags", "a", catalog.ListQuery{
			AllTags: []string{"setup"}, Tags: []string{"node", "none"}}),
		plain("without a parent and without replies", "b c", catalog.ListQuery{Unanswered: true}),
		plain("with a body", "d", catalog.ListQuery{HasBody: new(true)}),
		plain("without a body", "a b c", catalog.ListQuery{HasBody: new(false)}),
		plain("by any of the tags, each record once", "a b", catalog.ListQuery{Tags: []string{"setup", "node"}}),
		list("by parent", "d", func(f fixture) catalog.ListQuery { return catalog.ListQuery{Parent: id(f)} }),
		plain("top level only", "a b c", catalog.ListQuery{TopLevel: true}),
		plain("by author exactly", "a", catalog.ListQuery{Author: "Ada Sample"}),
		plain("since is inclusive", "b c", catalog.ListQuery{Since: day(2)}),
		plain("until is exclusive and leaves out unknown times", "a", catalog.ListQuery{Until: day(2)}),
		plain("since and until", "b", catalog.ListQuery{Since: day(2), Until: day(3)}),
		plain("a nanosecond after is after", "c", catalog.ListQuery{Since: day(2).Add(time.Nanosecond)}),
		plain("text in title, author or category", "a d", catalog.ListQuery{Text: "ADA samp"}),
		plain("text in category", "a", catalog.ListQuery{Text: "guid"}),
		plain("text folds all of Unicode", "c", catalog.ListQuery{Text: "éMILE"}),
		plain("a percent sign is literal", "c", catalog.ListQuery{Text: "0%"}),
		plain("an underscore is literal", "c", catalog.ListQuery{Text: "%_"}),
		plain("a backslash is literal", "c", catalog.ListQuery{Text: `\ o`}),
		plain("text does not match across fields", "", catalog.ListQuery{Text: "a ada"}),
		plain("blank text selects everything", "a b c d", catalog.ListQuery{Text: " \n"}),
		plain("an endless text finds nothing", "", catalog.ListQuery{Text: strings.Repeat("x", 100_000)}),
		plain("text with NUL and invalid UTF-8 finds nothing", "", catalog.ListQuery{Text: "a\x00\xff"}),
		plain("all filters must hold", "a", catalog.ListQuery{Kinds: []catalog.Kind{catalog.KindDoc},
			States: []string{"open"}, Tags: []string{"setup"}}),
		plain("a value of no record finds nothing", "", catalog.ListQuery{Tags: []string{"none"}}),
	}
}

var listPromises = append(filters(),
	promise{"a page has the total of all pages", func(f fixture) {
		_, keys := many(f, 25)
		for offset := 0; offset < 40; offset += 10 {
			got, total := f.keys(catalog.ListQuery{Limit: 10, Offset: offset})
			f.equal("total", total, 25)
			f.equal("page", got, keys[min(offset, 25):min(offset+10, 25)])
		}
	}},
	promise{"a page that ends with the list has the right total", func(f fixture) {
		_, keys := many(f, 20)
		got, total := f.keys(catalog.ListQuery{Limit: 10, Offset: 10})
		f.equal("total", total, 20)
		f.equal("page", got, keys[10:])
	}},
	promise{"no limit is all, from the offset", func(f fixture) {
		_, keys := many(f, 1_200)
		got, total := f.keys(catalog.ListQuery{Offset: 3})
		f.equal("total", total, 1_200)
		f.equal("page", got, keys[3:])
	}},
	promise{"negative limit and offset are as zero", func(f fixture) {
		_, keys := many(f, 3)
		f.lists(catalog.ListQuery{Limit: -1, Offset: -1}, keys...)
	}},
	promise{"an empty list has total zero", func(f fixture) {
		f.lists(catalog.ListQuery{Limit: 10})
		_, total := f.keys(catalog.ListQuery{Limit: 10, Offset: 10})
		f.equal("total", total, 0)
	}},
	promise{"lists omit the body by default", func(f fixture) {
		f.put("docs", full())
		want := f.get("full")
		list, _, err := f.store.List(f.ctx, catalog.ListQuery{WithBody: true})
		f.check(err)
		f.equal("with body", list, []catalog.Record{want})
		want.Body = ""
		list, _, err = f.store.List(f.ctx, catalog.ListQuery{})
		f.check(err)
		f.equal("without", list, []catalog.Record{want})
	}},
	promise{"an unknown order or time is an error", func(f fixture) {
		for _, q := range []catalog.ListQuery{{Order: "id; DROP TABLE records"}, {When: "id; DROP TABLE records"}} {
			if _, _, err := f.store.List(f.ctx, q); err == nil {
				f.Fatalf("%+v: no error", q)
			}
		}
	}},
)

// sorted writes records and checks the order of their keys.
func sorted(order catalog.Order, want string, records ...catalog.Record) func(f fixture) {
	return func(f fixture) {
		f.put("docs", records...)
		f.lists(catalog.ListQuery{Order: order}, strings.Fields(want)...)
	}
}

func with(key string, change func(*catalog.Record)) catalog.Record {
	r := doc(key)
	change(&r)
	return r
}

var orderPromises = []promise{
	{"keys sort numbers by value", sorted(catalog.ByKey, "9 10 203 1000 PR-9 PR-10 PR-203 v1.9.0 v1.10.0",
		doc("PR-10"), doc("203"), doc("v1.10.0"), doc("9"), doc("PR-203"), doc("1000"), doc("10"), doc("v1.9.0"),
		doc("PR-9"))},
	{"keys sort without regard to case", sorted("", "alpha Beta gamma", doc("gamma"), doc("Beta"), doc("alpha"))},
	{"keys that differ in case or zeros only sort by id", sorted(catalog.ByKey, "a1 A01 B b",
		doc("B"), doc("b"), doc("a1"), doc("A01"))},
	{"keys descending", sorted(catalog.ByKeyDesc, "PR-203 PR-10 PR-9", doc("PR-10"), doc("PR-9"), doc("PR-203"))},
	{"keys of other scripts sort after ASCII", sorted(catalog.ByKey, "z é ж 文", doc("文"), doc("ж"), doc("é"),
		doc("z"))},
	{"created, newest first, unknown last, ties by id", sorted(catalog.ByCreated, "new tie-b tie-a old unknown",
		with("unknown", func(*catalog.Record) {}), with("old", func(r *catalog.Record) { r.CreatedAt = day(1) }),
		with("tie-b", func(r *catalog.Record) { r.CreatedAt = day(2) }),
		with("tie-a", func(r *catalog.Record) { r.CreatedAt = day(2) }),
		with("new", func(r *catalog.Record) { r.CreatedAt = day(3) }))},
	{"updated, newest first", sorted(catalog.ByUpdated, "b a",
		with("a", func(r *catalog.Record) { r.UpdatedAt = day(1) }),
		with("b", func(r *catalog.Record) { r.UpdatedAt = day(2) }))},
	{"last activity, newest first", sorted(catalog.ByLastActivity, "b a",
		with("a", func(r *catalog.Record) { r.LastActivityAt = day(1) }),
		with("b", func(r *catalog.Record) { r.LastActivityAt = day(2) }))},
	{"views, most first", sorted(catalog.ByViews, "b c a", with("a", func(r *catalog.Record) { r.Views = 1 }),
		with("b", func(r *catalog.Record) { r.Views = 20 }), with("c", func(r *catalog.Record) { r.Views = 3 }))},
	{"votes, most first", sorted(catalog.ByVotes, "b a", with("a", func(r *catalog.Record) { r.Votes = -1 }),
		doc("b"))},
	{"equal votes, newest first", sorted(catalog.ByVotes, "c b a", doc("a"),
		with("b", func(r *catalog.Record) { r.CreatedAt = day(1) }),
		with("c", func(r *catalog.Record) { r.CreatedAt = day(2) }))},
	{"ended, latest first, a start replaces an unknown end", sorted(catalog.ByEnded, "c b a unknown", doc("unknown"),
		with("a", func(r *catalog.Record) { r.StartsAt = day(1) }),
		with("b", func(r *catalog.Record) { r.EndsAt = day(2) }),
		with("c", func(r *catalog.Record) { r.StartsAt, r.EndsAt = day(0), day(3) }))},
	{"titles ascending without regard to case", sorted(catalog.ByTitle, "3 1 2",
		with("1", func(r *catalog.Record) { r.Title = "beta" }),
		with("2", func(r *catalog.Record) { r.Title = "Gamma" }),
		with("3", func(r *catalog.Record) { r.Title = "Alpha" }))},
	{"starts, soonest first, unknown last", sorted(catalog.ByStarts, "soon later unknown", doc("unknown"),
		with("later", func(r *catalog.Record) { r.StartsAt = day(9) }),
		with("soon", func(r *catalog.Record) { r.StartsAt = day(1) }))},
	{"first seen, newest first", func(f fixture) {
		f.put("docs", doc("old"))
		for f.get("old").FirstSeenAt.Equal(time.Now().UTC().Truncate(time.Microsecond)) { // the clock advances
		}
		f.put("docs", doc("new"))
		if f.get("new").FirstSeenAt.After(f.get("old").FirstSeenAt) { // with a fixed clock, ids decide
			f.lists(catalog.ListQuery{Order: catalog.ByFirstSeen}, "new", "old")
			return
		}
		f.lists(catalog.ListQuery{Order: catalog.ByFirstSeen}, "old", "new")
	}},
}
