package sqlstore_test

import "almanac/catalog"

var tombstonePromises = []promise{
	{"a deleted record is nowhere to be read", func(f fixture) {
		r := doc("a")
		r.Path, r.Tags = "a.md", []string{"t"}
		f.give("docs", catalog.Entry{Record: r, Aliases: []string{"alias"}, Links: []catalog.Link{mention("b", "")},
			Votes: []catalog.Vote{{Voter: "v"}}})
		id := f.get("a").ID
		f.equal("result", f.delete("docs", id), catalog.Result{Deleted: 1})
		f.gone("a")
		f.gone("alias")
		_, err := f.store.ByID(f.ctx, id)
		f.missing(err)
		f.equal("records", len(must(f.store.Records(f.ctx, []int64{id}))), 0)
		f.equal("by path", len(must(f.store.ByPath(f.ctx, "a.md"))), 0)
		f.lists(catalog.ListQuery{})
		f.lists(catalog.ListQuery{Tags: []string{"t"}})
		f.equal("links from", len(f.linksFrom(id)), 0)
		to := must(f.store.LinksTo(f.ctx, ref("b")))
		f.equal("links to", len(to), 0)
		f.equal("links by relation", len(must(f.store.LinksByRelation(f.ctx, catalog.Mentions))), 0)
		f.equal("aliases", len(f.aliases(id)), 0)
		f.equal("votes", len(must(f.store.VotesOn(f.ctx, id))), 0)
		f.equal("counts", len(must(f.store.Counts(f.ctx))), 0)
		f.equal("live keys", len(must(f.store.LiveKeys(f.ctx, "docs"))), 0)
	}},
	{"deleting is logged once", func(f fixture) {
		f.put("docs", doc("a"))
		id, seq := f.get("a").ID, f.last()
		f.delete("docs", id)
		changes := f.changes(seq)
		if len(changes) != 1 || changes[0].Record != id || !changes[0].Delete {
			f.Fatalf("changes are %+v", changes)
		}
		f.quiet(func() { f.equal("again", f.delete("docs", id), catalog.Result{}) })
	}},
	{"a revived record keeps its id and its dependents", func(f fixture) {
		e := catalog.Entry{Record: full(), Aliases: []string{"alias"}, Links: []catalog.Link{mention("b", "s")},
			Votes: []catalog.Vote{{Voter: "v", Choice: "against"}}}
		f.give("docs", e)
		before := f.get("full")
		f.delete("docs", before.ID)
		seq := f.last()
		f.equal("result", f.give("docs", e), catalog.Result{Created: 1})
		f.equal("record", f.get("full"), before)
		f.equal("aliases", f.aliases(before.ID), []string{"alias"})
		f.equal("links", len(f.linksFrom(before.ID)), 1)
		f.equal("votes", len(must(f.store.VotesOn(f.ctx, before.ID))), 1)
		changes := f.changes(seq)
		if len(changes) != 1 || changes[0].Delete {
			f.Fatalf("changes are %+v", changes)
		}
		f.equal("then", f.give("docs", e), catalog.Result{Unchanged: 1})
	}},
	{"an id is never given twice", func(f fixture) {
		f.put("docs", doc("a"), doc("b"))
		last := f.get("b").ID
		f.delete("docs", f.get("a").ID, last)
		f.put("docs", doc("c"))
		if id := f.get("c").ID; id <= last {
			f.Fatalf("id %d after %d", id, last)
		}
	}},
	{"deleting a parent leaves its children", func(f fixture) {
		f.give("docs", catalog.Entry{Record: doc("parent")}, catalog.Entry{Record: doc("child"), Parent: ref("parent")})
		parent := f.get("parent").ID
		f.delete("docs", parent)
		f.equal("parent", f.get("child").Parent, parent)
	}},
	{"another source's record is not deleted", func(f fixture) {
		f.put("docs", doc("a"))
		f.quiet(func() { f.equal("result", f.delete("blog", f.get("a").ID), catalog.Result{}) })
		f.get("a")
	}},
	{"unknown ids are ignored", func(f fixture) {
		f.equal("result", f.delete("docs", 1, -1, catalog.FirstID), catalog.Result{})
	}},
	{"a record that a batch both deletes and writes is live", func(f fixture) {
		f.put("docs", doc("a"))
		id := f.get("a").ID
		f.apply(catalog.Batch{Source: "docs", Entries: entries(doc("a")), Delete: []int64{id}})
		f.equal("id", f.get("a").ID, id)
		changes := f.changes(0)
		if len(changes) != 1 || changes[0].Delete {
			f.Fatalf("changes are %+v", changes)
		}
	}},
	{"ten thousand ids are deleted at once", func(f fixture) {
		ids, _ := many(f, 1_200)
		f.equal("result", f.delete("docs", tenThousand(ids)...), catalog.Result{Deleted: 1_200})
		f.lists(catalog.ListQuery{})
	}},
}

var ownershipPromises = []promise{
	{"another source's record stays as it is", func(f fixture) {
		f.put("docs", full())
		before := f.get("full")
		other := full()
		other.Title, other.Body, other.Tags = "Hijacked", "", []string{"bad"}
		f.quiet(func() { f.equal("result", f.put("blog", other), catalog.Result{Foreign: 1}) })
		f.equal("record", f.get("full"), before)
	}},
	{"an addition does not create a record", func(f fixture) {
		add := catalog.Entry{Record: catalog.Record{Kind: catalog.KindDoc, Key: "a"},
			Links: []catalog.Link{mention("x", "")}, Addition: true}
		f.quiet(func() { f.equal("nothing there", f.give("joins", add), catalog.Result{}) })
		f.gone("a")
		f.put("docs", doc("a"))
		before := f.get("a")
		f.equal("there", f.give("joins", add), catalog.Result{Foreign: 1})
		f.equal("record", f.get("a"), before)
		f.equal("links", f.linksFrom(before.ID),
			[]catalog.Link{{From: before.ID, Relation: catalog.Mentions, To: ref("x")}})
		f.quiet(func() { f.give("joins", add) })
		f.delete("docs", before.ID)
		f.quiet(func() { f.give("joins", add) })
		f.gone("a")
		f.put("joins", doc("own"))
		add.Record.Key = "own"
		f.quiet(func() { f.equal("of its own", f.give("joins", add), catalog.Result{}) })
		f.equal("title", f.get("own").Title, "Title of own")
	}},
	{"another source adds links and aliases, not votes", func(f fixture) {
		f.give("docs", catalog.Entry{Record: doc("a"), Aliases: []string{"own"},
			Links: []catalog.Link{mention("x", "own")}})
		id := f.get("a").ID
		seq := f.last()
		f.give("blog", catalog.Entry{Record: doc("a"), Aliases: []string{"added"},
			Links: []catalog.Link{mention("y", "added")},
			Votes: []catalog.Vote{{Voter: "v"}}})
		f.equal("aliases", f.aliases(id), []string{"added", "own"})
		f.equal("links", f.linksFrom(id), []catalog.Link{
			{From: id, Relation: catalog.Mentions, To: ref("x"), Snippet: "own"},
			{From: id, Relation: catalog.Mentions, To: ref("y"), Snippet: "added"},
		})
		f.equal("by added alias", f.get("added").ID, id)
		f.equal("votes", len(must(f.store.VotesOn(f.ctx, id))), 0)
		f.equal("changes", len(f.changes(seq)), 1)
	}},
	{"the same additions again write nothing", func(f fixture) {
		f.put("docs", doc("a"))
		add := catalog.Entry{Record: doc("a"), Aliases: []string{"added"}}
		f.give("blog", add)
		add.Record.Title = "the title does not matter"
		f.quiet(func() { f.equal("result", f.give("blog", add), catalog.Result{Foreign: 1}) })
	}},
	{"additions survive the owner's rewrites", func(f fixture) {
		f.put("docs", doc("a"))
		id := f.get("a").ID
		f.give("blog", catalog.Entry{Record: doc("a"), Aliases: []string{"added"},
			Links: []catalog.Link{mention("y", "")}})
		r := doc("a")
		r.Title = "Rewritten"
		f.give("docs", catalog.Entry{Record: r, Links: []catalog.Link{mention("x", "")}})
		f.equal("aliases", f.aliases(id), []string{"added"})
		f.equal("links", len(f.linksFrom(id)), 2)
	}},
	{"additions vanish when their source stops giving them", func(f fixture) {
		f.give("docs", catalog.Entry{Record: doc("a"), Aliases: []string{"own"}})
		id := f.get("a").ID
		f.give("blog", catalog.Entry{Record: doc("a"), Aliases: []string{"added"},
			Links: []catalog.Link{mention("y", "")}})
		f.give("blog", catalog.Entry{Record: doc("a"), Links: []catalog.Link{mention("z", "")}})
		f.equal("aliases", f.aliases(id), []string{"own"})
		f.equal("link", f.linksFrom(id)[0].To.Key, "z")
		f.give("blog", catalog.Entry{Record: doc("a")})
		f.equal("links", len(f.linksFrom(id)), 0)
		f.equal("aliases", f.aliases(id), []string{"own"})
	}},
	{"additions vanish when their source deletes the record it adds to", func(f fixture) {
		f.give("docs", catalog.Entry{Record: doc("a"), Links: []catalog.Link{mention("x", "")}})
		id := f.get("a").ID
		f.give("blog", catalog.Entry{Record: doc("a"), Aliases: []string{"added"},
			Links: []catalog.Link{mention("y", "")}})
		f.equal("live keys", must(f.store.LiveKeys(f.ctx, "blog")), map[catalog.Ref]int64{ref("a"): id})
		f.put("blog", doc("own"))
		counts := must(f.store.ForeignCounts(f.ctx))
		f.equal("foreign counts", counts, map[string]int{"blog": 1})
		seq := f.last()
		f.equal("result", f.delete("blog", id), catalog.Result{})
		counts = must(f.store.ForeignCounts(f.ctx))
		f.equal("foreign counts", len(counts), 0)
		f.equal("aliases", len(f.aliases(id)), 0)
		f.equal("links", len(f.linksFrom(id)), 1)
		f.equal("changes", len(f.changes(seq)), 1)
		f.equal("live keys", must(f.store.LiveKeys(f.ctx, "blog")), map[catalog.Ref]int64{ref("own"): f.get("own").ID})
	}},
	{"an alias or link that the owner also has is stored once, and stays when either is removed", func(f fixture) {
		e := catalog.Entry{Record: doc("a"), Aliases: []string{"n"}, Links: []catalog.Link{mention("x", "owner's")}}
		f.give("docs", e)
		id := f.get("a").ID
		f.give("blog", catalog.Entry{Record: doc("a"), Aliases: []string{"n"},
			Links: []catalog.Link{mention("x", "added")}})
		f.equal("aliases", f.aliases(id), []string{"n"})
		f.equal("snippet", f.linksFrom(id)[0].Snippet, "owner's")
		f.equal("links", len(f.linksFrom(id)), 1)
		f.give("docs", catalog.Entry{Record: doc("a")})
		f.equal("aliases", f.aliases(id), []string{"n"})
		f.equal("snippet", f.linksFrom(id)[0].Snippet, "added")
	}},
	{"additions of several sources do not touch each other", func(f fixture) {
		f.put("docs", doc("a"))
		id := f.get("a").ID
		f.give("blog", catalog.Entry{Record: doc("a"), Aliases: []string{"b"}})
		f.give("forum", catalog.Entry{Record: doc("a"), Aliases: []string{"f"}})
		f.give("blog", catalog.Entry{Record: doc("a")})
		f.equal("aliases", f.aliases(id), []string{"f"})
	}},
	{"a tombstone may be taken over by another source", func(f fixture) {
		f.give("docs", catalog.Entry{Record: doc("a"), Aliases: []string{"old"},
			Links: []catalog.Link{mention("x", "")}})
		id := f.get("a").ID
		f.delete("docs", id)
		f.equal("result", f.give("blog", catalog.Entry{Record: doc("a"), Links: []catalog.Link{mention("y", "")}}),
			catalog.Result{Created: 1})
		r := f.get("a")
		f.equal("id", r.ID, id)
		f.equal("source", r.Source, "blog")
		f.equal("aliases", len(f.aliases(id)), 0)
		f.equal("links", len(f.linksFrom(id)), 1)
		f.equal("former owner", f.put("docs", doc("a")), catalog.Result{Foreign: 1})
	}},
	{"a source takes over the records of those it comes before", func(f fixture) {
		former := doc("a")
		former.Title, former.Tags = "Former", []string{"former"}
		f.give("blog", catalog.Entry{Record: former, Aliases: []string{"n"}, Links: []catalog.Link{mention("x", "")},
			Votes: []catalog.Vote{{Voter: "v"}}})
		id := f.get("a").ID
		f.give("docs", catalog.Entry{Record: doc("a"), Links: []catalog.Link{mention("y", "")}})
		seq := f.last()
		first := catalog.Batch{Source: "docs", Over: []string{"forum", "blog"},
			Entries: []catalog.Entry{{Record: doc("a"), Links: []catalog.Link{mention("y", "")}}}}
		f.equal("result", f.apply(first), catalog.Result{Updated: 1})
		r := f.get("a")
		f.equal("id", r.ID, id)
		f.equal("source", r.Source, "docs")
		f.equal("title", r.Title, "Title of a")
		f.equal("tags", len(r.Tags), 0)
		f.equal("aliases", f.aliases(id), []string{"n"})
		f.equal("links", len(f.linksFrom(id)), 2)
		f.equal("votes", len(must(f.store.VotesOn(f.ctx, id))), 0)
		f.equal("changes", len(f.changes(seq)), 1)
		f.quiet(func() { f.equal("again", f.apply(first), catalog.Result{Unchanged: 1}) })
		f.equal("former owner", f.give("blog", catalog.Entry{Record: former, Aliases: []string{"m"}}),
			catalog.Result{Foreign: 1})
		f.equal("aliases", f.aliases(id), []string{"m"})
		f.equal("links", len(f.linksFrom(id)), 1)
		f.delete("blog", id)
		f.equal("aliases", len(f.aliases(id)), 0)
		first.Source, first.Over = "forum", []string{"blog"}
		f.equal("of none of them", f.apply(first), catalog.Result{Foreign: 1})
		f.equal("source", f.get("a").Source, "docs")
	}},
	{"an addition takes nothing over", func(f fixture) {
		f.put("blog", doc("a"))
		f.apply(catalog.Batch{Source: "docs", Over: []string{"blog"}, Entries: []catalog.Entry{{Record: doc("a"),
			Links: []catalog.Link{mention("y", "")}, Addition: true}}})
		f.equal("source", f.get("a").Source, "blog")
	}},
	{"a source that added before it took over has its links once", func(f fixture) {
		f.put("docs", doc("a"))
		add := catalog.Entry{Record: doc("a"), Aliases: []string{"n"}, Links: []catalog.Link{mention("y", "")}}
		f.give("blog", add)
		id := f.get("a").ID
		f.delete("docs", id)
		f.give("blog", add)
		f.equal("links", len(f.linksFrom(id)), 1)
		f.delete("blog", id)
		f.gone("a")
		f.give("docs", catalog.Entry{Record: doc("a")})
		f.equal("links", len(f.linksFrom(id)), 0)
		f.equal("aliases", len(f.aliases(id)), 0)
	}},
	{"dropping additions to a tombstone does not revive it in the log", func(f fixture) {
		f.put("docs", doc("a"))
		id := f.get("a").ID
		f.give("blog", catalog.Entry{Record: doc("a"), Aliases: []string{"n"}})
		f.delete("docs", id)
		f.delete("blog", id)
		changes := f.changes(0)
		if len(changes) != 1 || !changes[0].Delete {
			f.Fatalf("changes are %+v", changes)
		}
	}},
	{"live keys are those of one source", func(f fixture) {
		f.put("docs", doc("a"), doc("b"))
		f.put("blog", doc("c"))
		live := must(f.store.LiveKeys(f.ctx, "docs"))
		f.equal("live keys", live, map[catalog.Ref]int64{ref("a"): f.get("a").ID, ref("b"): f.get("b").ID})
	}},
}

var hangingPromises = []promise{
	{"tags are a set in order", func(f fixture) {
		r := doc("a")
		r.Tags = []string{"b", "a", "", "b"}
		f.put("docs", r)
		f.equal("tags", f.get("a").Tags, []string{"a", "b"})
		r.Tags = nil
		f.put("docs", r)
		f.equal("tags", len(f.get("a").Tags), 0)
	}},
	{"aliases find the record within its kind", func(f fixture) {
		f.give("docs", catalog.Entry{Record: doc("a"), Aliases: []string{"PR-1", "a"}})
		f.equal("key", f.get("PR-1").Key, "a")
		f.equal("aliases", f.aliases(f.get("a").ID), []string{"PR-1"})
		_, err := f.store.Get(f.ctx, catalog.Ref{Kind: catalog.KindFAQ, Key: "PR-1"})
		f.missing(err)
	}},
	{"a key goes before an alias", func(f fixture) {
		f.give("docs", catalog.Entry{Record: doc("a"), Aliases: []string{"b"}}, catalog.Entry{Record: doc("b")})
		f.equal("key", f.get("b").Key, "b")
	}},
	{"an alias answers for a tombstone of that key", func(f fixture) {
		f.put("docs", doc("draft"))
		f.delete("docs", f.get("draft").ID)
		f.give("docs", catalog.Entry{Record: doc("final"), Aliases: []string{"draft"}})
		f.equal("key", f.get("draft").Key, "final")
	}},
	{"of two records with an alias the older has it", func(f fixture) {
		f.give("docs", catalog.Entry{Record: doc("z"), Aliases: []string{"n"}},
			catalog.Entry{Record: doc("a"), Aliases: []string{"n"}})
		f.equal("key", f.get("n").Key, "z")
		f.delete("docs", f.get("z").ID)
		f.equal("key", f.get("n").Key, "a")
	}},
	{"aliases are replaced as a whole", func(f fixture) {
		f.give("docs", catalog.Entry{Record: doc("a"), Aliases: []string{"x", "y"}})
		f.give("docs", catalog.Entry{Record: doc("a"), Aliases: []string{"y", "z"}})
		f.equal("aliases", f.aliases(f.get("a").ID), []string{"y", "z"})
		f.gone("x")
	}},
	{"votes are ordered by time, then voter, and replaced as a whole", func(f fixture) {
		f.give("docs", catalog.Entry{Record: doc("a"), Votes: []catalog.Vote{
			{Voter: "late", Choice: "against", Reason: "cost", CastAt: day(2), URL: "https://mail.example/2"},
			{Voter: "b", Choice: "in_favour", CastAt: day(1)}, {Voter: "a", Choice: "abstain", CastAt: day(1)},
		}})
		id := f.get("a").ID
		f.equal("votes", must(f.store.VotesOn(f.ctx, id)), []catalog.Vote{
			{Record: id, Voter: "a", Choice: "abstain", CastAt: day(1)},
			{Record: id, Voter: "b", Choice: "in_favour", CastAt: day(1)},
			{Record: id, Voter: "late", Choice: "against", Reason: "cost", CastAt: day(2),
				URL: "https://mail.example/2"},
		})
		f.give("docs", catalog.Entry{Record: doc("a"), Votes: []catalog.Vote{{Voter: "only"}}})
		f.equal("votes", must(f.store.VotesOn(f.ctx, id)), []catalog.Vote{{Record: id, Voter: "only"}})
	}},
}
