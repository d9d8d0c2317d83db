package sqlstore_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"almanac/catalog"
)

// full is a record with every field that a source can set.
func full() catalog.Record {
	return catalog.Record{
		Kind: catalog.KindDoc, Key: "full", Title: "Running a node", URL: "https://docs.example/full",
		Path: "guides/full.md", Container: "example/docs", State: "current", Category: "guide", Author: "Ada Sample",
		CreatedAt: day(1), UpdatedAt: day(2), LastActivityAt: day(3), StartsAt: day(4), EndsAt: day(5),
		Views: 6, Replies: 7, Votes: 8, Body: "# Running a node\n\nStart it.", Summary: "How to start.",
		Data: data(catalog.Doc{Format: "markdown", Includes: []string{"a.md"}}), Tags: []string{"node", "start"},
	}
}

var applyPromises = []promise{
	{"a record is read as it was written", func(f fixture) {
		want := full()
		f.equal("result", f.put("docs", want), catalog.Result{Created: 1})
		got := f.get("full")
		if got.ID < catalog.FirstID || got.Hash == "" || got.FirstSeenAt.IsZero() {
			f.Fatalf("id %d, hash %q, first seen %v", got.ID, got.Hash, got.FirstSeenAt)
		}
		want.ID, want.Hash, want.FirstSeenAt, want.Source = got.ID, got.Hash, got.FirstSeenAt, "docs"
		f.equal("record", got, want)
		f.equal("by id", must(f.store.ByID(f.ctx, got.ID)), want)
	}},
	{"ids start at FirstID", func(f fixture) {
		f.put("docs", doc("a"))
		f.equal("id", f.get("a").ID, catalog.FirstID)
	}},
	{"unknown times stay unknown", func(f fixture) {
		f.put("docs", doc("a"))
		r := f.get("a")
		if !r.CreatedAt.IsZero() || !r.UpdatedAt.IsZero() || !r.StartsAt.IsZero() || !r.DeletedAt.IsZero() {
			f.Fatalf("times are %v, %v, %v, %v", r.CreatedAt, r.UpdatedAt, r.StartsAt, r.DeletedAt)
		}
	}},
	{"times of other zones and before 1970 are the same moments", func(f fixture) {
		old := time.Date(1961, 4, 12, 9, 7, 0, 0, time.FixedZone("", 3*3600))
		r := doc("a")
		r.CreatedAt = old
		f.put("docs", r)
		if got := f.get("a").CreatedAt; !got.Equal(old) || got.Location() != time.UTC {
			f.Fatalf("created at %v, want %v in UTC", got, old)
		}
	}},
	{"an unchanged record writes nothing and logs no change", func(f fixture) {
		e := catalog.Entry{Record: full(), Aliases: []string{"b", "a"}, Links: []catalog.Link{mention("x", "s")},
			Votes: []catalog.Vote{{Voter: "v", Choice: "in_favour", CastAt: day(1)}}}
		f.give("docs", e)
		before := f.get("full")
		f.quiet(func() { f.equal("result", f.give("docs", e), catalog.Result{Unchanged: 1}) })
		f.equal("record", f.get("full"), before)
	}},
	{"the order of tags and aliases and the spelling of data do not count as a change", func(f fixture) {
		a := catalog.Entry{Record: full(), Aliases: []string{"b", "a"}}
		f.give("docs", a)
		b := catalog.Entry{Record: full(), Aliases: []string{"a", "b", "a", ""}}
		b.Record.Tags = []string{"start", "node", "start"}
		b.Record.Data = []byte(" " + string(b.Record.Data) + "\n")
		b.Record.CreatedAt = b.Record.CreatedAt.In(time.FixedZone("", 3600))
		f.equal("result", f.give("docs", b), catalog.Result{Unchanged: 1})
	}},
	{"an update keeps id and first sight", func(f fixture) {
		f.put("docs", doc("a"))
		before := f.get("a")
		r := doc("a")
		r.Title = "New"
		f.equal("result", f.put("docs", r), catalog.Result{Updated: 1})
		after := f.get("a")
		f.equal("title", after.Title, "New")
		f.equal("id", after.ID, before.ID)
		f.equal("first seen", after.FirstSeenAt, before.FirstSeenAt)
		if after.Hash == before.Hash {
			f.Fatal("the hash is the same")
		}
	}},
	{"an id in the given record is not used", func(f fixture) {
		r := doc("a")
		r.ID = 42
		f.put("docs", r)
		f.equal("id", f.get("a").ID, catalog.FirstID)
	}},
	{"every field counts as content", everyFieldCounts},
	{"a record given twice in a batch ends as the last", func(f fixture) {
		a, b := doc("a"), doc("a")
		b.Title = "Second"
		f.equal("result", f.put("docs", a, b, b), catalog.Result{Created: 1, Updated: 1, Unchanged: 1})
		f.equal("title", f.get("a").Title, "Second")
		f.equal("changes", len(f.changes(0)), 1)
	}},
	{"a parent earlier in the batch is resolved", func(f fixture) {
		child := catalog.Entry{Record: doc("child"), Parent: ref("parent")}
		f.give("docs", catalog.Entry{Record: doc("parent")}, child)
		f.equal("parent", f.get("child").Parent, f.get("parent").ID)
		f.equal("again", f.give("docs", child), catalog.Result{Unchanged: 1})
	}},
	{"a parent in the store is resolved by key or alias", func(f fixture) {
		f.give("docs", catalog.Entry{Record: doc("parent"), Aliases: []string{"other name"}})
		f.give("docs", catalog.Entry{Record: doc("a"), Parent: ref("parent")},
			catalog.Entry{Record: doc("b"), Parent: ref("other name")})
		id := f.get("parent").ID
		f.equal("by key", f.get("a").Parent, id)
		f.equal("by alias", f.get("b").Parent, id)
	}},
	{"an unknown parent does not fail the batch and is found once it exists", func(f fixture) {
		child := catalog.Entry{Record: doc("child"), Parent: ref("late")}
		f.give("docs", child)
		f.equal("parent", f.get("child").Parent, int64(0))
		f.put("docs", doc("late"))
		f.equal("result", f.give("docs", child), catalog.Result{Updated: 1})
		f.equal("parent", f.get("child").Parent, f.get("late").ID)
	}},
	{"the same key in two kinds is two records", func(f fixture) {
		b := doc("a")
		b.Kind = catalog.KindFAQ
		f.equal("result", f.put("docs", doc("a"), b), catalog.Result{Created: 2})
	}},
	{"a bad entry fails the batch as a whole", func(f fixture) {
		broken := doc("c")
		broken.Data = []byte(`{"a":`)
		for _, bad := range []catalog.Record{{Kind: catalog.KindDoc}, {Key: "x"}, broken} {
			cursor := "moved"
			_, err := f.store.Apply(f.ctx, catalog.Batch{Source: "docs", Entries: entries(doc("a"), bad),
				Cursor: &cursor})
			if !errors.Is(err, catalog.ErrBadEntry) {
				f.Fatalf("error is %v, want ErrBadEntry", err)
			}
			f.gone("a")
		}
		f.equal("sources", len(must(f.store.Sources(f.ctx))), 0)
	}},
	{"a batch without a source is refused", func(f fixture) {
		_, err := f.store.Apply(f.ctx, catalog.Batch{Entries: entries(doc("a"))})
		if !errors.Is(err, catalog.ErrBadEntry) {
			f.Fatalf("error is %v", err)
		}
	}},
	{"an empty batch is fine", func(f fixture) {
		f.equal("result", f.apply(catalog.Batch{Source: "docs"}), catalog.Result{})
	}},
	{"a large batch is one transaction", func(f fixture) {
		var records []catalog.Record
		for i := range 1_200 {
			records = append(records, doc(fmt.Sprintf("%04d", i)))
		}
		f.equal("result", f.put("docs", records...), catalog.Result{Created: 1_200})
		f.equal("again", f.put("docs", records...), catalog.Result{Unchanged: 1_200})
		_, total := f.keys(catalog.ListQuery{Limit: 1})
		f.equal("total", total, 1_200)
	}},
}

// everyFieldCounts changes one thing at a time and expects an update.
func everyFieldCounts(f fixture) {
	changes := map[string]func(e *catalog.Entry){
		"title":         func(e *catalog.Entry) { e.Record.Title += "x" },
		"url":           func(e *catalog.Entry) { e.Record.URL += "x" },
		"path":          func(e *catalog.Entry) { e.Record.Path += "x" },
		"container":     func(e *catalog.Entry) { e.Record.Container += "x" },
		"state":         func(e *catalog.Entry) { e.Record.State += "x" },
		"category":      func(e *catalog.Entry) { e.Record.Category += "x" },
		"author":        func(e *catalog.Entry) { e.Record.Author += "x" },
		"parent":        func(e *catalog.Entry) { e.Record.Parent++ },
		"created":       func(e *catalog.Entry) { e.Record.CreatedAt = day(50) },
		"updated":       func(e *catalog.Entry) { e.Record.UpdatedAt = day(50) },
		"last activity": func(e *catalog.Entry) { e.Record.LastActivityAt = day(50) },
		"starts":        func(e *catalog.Entry) { e.Record.StartsAt = day(50) },
		"ends":          func(e *catalog.Entry) { e.Record.EndsAt = day(50) },
		"views":         func(e *catalog.Entry) { e.Record.Views++ },
		"replies":       func(e *catalog.Entry) { e.Record.Replies++ },
		"votes":         func(e *catalog.Entry) { e.Record.Votes++ },
		"body":          func(e *catalog.Entry) { e.Record.Body += "x" },
		"summary":       func(e *catalog.Entry) { e.Record.Summary += "x" },
		"data":          func(e *catalog.Entry) { e.Record.Data = data(catalog.Doc{Format: "rst"}) },
		"tags":          func(e *catalog.Entry) { e.Record.Tags = []string{"other"} },
		"aliases":       func(e *catalog.Entry) { e.Aliases = []string{"other"} },
		"links":         func(e *catalog.Entry) { e.Links = []catalog.Link{mention("other", "")} },
		"snippet":       func(e *catalog.Entry) { e.Links = []catalog.Link{mention("x", "other")} },
		"ballots":       func(e *catalog.Entry) { e.Votes = []catalog.Vote{{Voter: "other"}} },
	}
	for name, change := range changes {
		f.Run(name, func(t *testing.T) {
			e := catalog.Entry{Record: full(), Aliases: []string{"alias"}, Links: []catalog.Link{mention("x", "s")}}
			e.Record.Key = name
			f.give("docs", e)
			change(&e)
			if got := f.give("docs", e); got != (catalog.Result{Updated: 1}) {
				t.Fatalf("result is %+v, want one update", got)
			}
			if got := f.give("docs", e); got != (catalog.Result{Unchanged: 1}) {
				t.Fatalf("result is %+v, want nothing changed", got)
			}
		})
	}
}
