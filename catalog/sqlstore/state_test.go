package sqlstore_test

import (
	"encoding/json"
	"errors"
	"time"

	"almanac/catalog"
)

var changePromises = []promise{
	{"an empty catalog has no changes", func(f fixture) {
		f.equal("last", f.last(), int64(0))
		f.equal("changes", len(f.changes(0)), 0)
	}},
	{"changes come oldest first, in pages", func(f fixture) {
		ids, _ := many(f, 5)
		var got []int64
		var after int64
		for {
			f.equal("number", must(f.store.CountChanges(f.ctx, after)), len(ids)-len(got))
			page := must(f.store.Changes(f.ctx, after, 2))
			if len(page) == 0 {
				break
			}
			for _, c := range page {
				if c.Seq <= after || c.Delete || c.At.IsZero() {
					f.Fatalf("change %+v after %d", c, after)
				}
				after, got = c.Seq, append(got, c.Record)
			}
		}
		f.equal("records", got, ids)
		f.equal("last", f.last(), after)
	}},
	{"a record changed often appears once, at its last change", func(f fixture) {
		f.put("docs", doc("a"), doc("b"))
		a, seq := f.get("a").ID, f.last()
		for _, title := range []string{"1", "2", "3"} {
			f.put("docs", with("a", func(r *catalog.Record) { r.Title = title }))
		}
		changes := f.changes(0)
		f.equal("number", len(changes), 2)
		f.equal("last record", changes[1].Record, a)
		if changes[1].Seq < seq+3 {
			f.Fatalf("sequence %d, want at least %d", changes[1].Seq, seq+3)
		}
	}},
	{"the sequence also grows when the newest change is replaced", func(f fixture) {
		f.put("docs", doc("a"))
		for _, title := range []string{"1", "2"} {
			before := f.last()
			f.put("docs", with("a", func(r *catalog.Record) { r.Title = title }))
			if f.last() <= before {
				f.Fatalf("sequence %d after %d", f.last(), before)
			}
		}
	}},
	{"a revived tombstone is no longer a deletion", func(f fixture) {
		f.put("docs", doc("a"))
		f.delete("docs", f.get("a").ID)
		f.put("docs", doc("a"))
		changes := f.changes(0)
		f.equal("number", len(changes), 1)
		f.equal("delete", changes[0].Delete, false)
	}},
}

var statePromises = []promise{
	{"a batch moves its source's cursor and no other", func(f fixture) {
		one, two := "one", "two"
		f.apply(catalog.Batch{Source: "docs", Cursor: &one})
		f.apply(catalog.Batch{Source: "blog", Cursor: &two})
		f.apply(catalog.Batch{Source: "docs"})
		f.equal("sources", must(f.store.Sources(f.ctx)),
			[]catalog.SourceState{{Name: "blog", Cursor: "two"}, {Name: "docs", Cursor: "one"}})
	}},
	{"what a run leaves for the next one is beside the cursor", func(f fixture) {
		left := []byte{0x28, 0xb5, 0, 0xff}
		f.equal("of no source", len(must(f.store.State(f.ctx, "docs"))), 0)
		f.apply(catalog.Batch{Source: "docs", Cursor: new("here"), State: left})
		f.apply(catalog.Batch{Source: "docs", Entries: entries(doc("a"))})
		f.check(f.store.SetSource(f.ctx, catalog.SourceState{Name: "docs", Kind: "feed"}))
		f.equal("left", must(f.store.State(f.ctx, "docs")), left)
		f.apply(catalog.Batch{Source: "docs", Cursor: new("")})
		f.equal("of a source that begins anew", len(must(f.store.State(f.ctx, "docs"))), 0)
	}},
	{"a source's state leaves the cursor alone", func(f fixture) {
		cursor := "here"
		f.apply(catalog.Batch{Source: "docs", Cursor: &cursor})
		want := catalog.SourceState{Name: "docs", Kind: "markdown", LastRun: day(2), LastSuccess: day(1),
			Cursor: "ignored", Error: "no route", Skipped: 3, Remark: "a.md: odd", Settings: "1f", Freshness: 36 * time.Hour}
		f.check(f.store.SetSource(f.ctx, want))
		want.Cursor = cursor
		f.equal("sources", must(f.store.Sources(f.ctx)), []catalog.SourceState{want})
	}},
	{"who yields what its owner gives up reads everything again", func(f fixture) {
		cursor := "here"
		linked := catalog.Entry{Record: doc("b"), Links: []catalog.Link{mention("x", "")}}
		f.put("docs", doc("a"), doc("b"), doc("c"))
		for source, e := range map[string]catalog.Entry{"blog": {Record: doc("a")}, "news": linked, "wiki": {Record: doc("c")}} {
			give := func() { f.apply(catalog.Batch{Source: source, Cursor: &cursor, Entries: []catalog.Entry{e}}) }
			give()
			f.quiet(give)
		}
		f.give("joins", catalog.Entry{Record: doc("a"), Addition: true})
		f.apply(catalog.Batch{Source: "joins", Cursor: &cursor})
		f.delete("docs", f.get("a").ID, f.get("b").ID)
		states := must(f.store.Sources(f.ctx))
		cursors := map[string]string{}
		for _, s := range states {
			cursors[s.Name] = s.Cursor
		}
		f.equal("cursors", cursors, map[string]string{"blog": "", "joins": "here", "news": "", "wiki": "here"})
		f.equal("what wiki yields", must(f.store.LiveKeys(f.ctx, "wiki")), map[catalog.Ref]int64{ref("c"): f.get("c").ID})
	}},
	{"who has yielded what another source owned is known", func(f fixture) {
		foreign := func(want ...string) {
			f.Helper()
			states := must(f.store.Sources(f.ctx))
			var got []string
			for _, s := range states {
				if s.Foreign {
					got = append(got, s.Name)
				}
			}
			f.equal("foreign", got, want)
		}
		for _, name := range []string{"blog", "docs", "first", "joins"} {
			f.check(f.store.SetSource(f.ctx, catalog.SourceState{Name: name}))
		}
		f.put("docs", doc("a"))
		f.give("joins", catalog.Entry{Record: doc("a"), Links: []catalog.Link{mention("x", "")}, Addition: true})
		foreign()
		f.quiet(func() { f.put("blog", doc("a")) }) // which adds nothing
		foreign("blog")
		f.apply(catalog.Batch{Source: "first", Over: []string{"docs"}, Entries: entries(doc("a"))})
		foreign("blog", "docs")
		f.put("blog", doc("own"))
		f.check(f.store.SetSource(f.ctx, catalog.SourceState{Name: "blog", Kind: "feed"}))
		foreign("blog", "docs")
		f.apply(catalog.Batch{Source: "blog", Cursor: new("here")})
		foreign("blog", "docs")
		f.apply(catalog.Batch{Source: "blog", Cursor: new("")})
		foreign("docs")
	}},
	{"a dropped source leaves nothing behind", func(f fixture) {
		cursor := "here"
		for _, name := range []string{"blog", "docs"} {
			f.check(f.store.SetSource(f.ctx, catalog.SourceState{Name: name, Kind: "feed", LastRun: day(1)}))
			f.apply(catalog.Batch{Source: name, Cursor: &cursor, Entries: entries(doc(name)),
				Events: []catalog.Event{{Ref: ref(name), Field: "status", At: day(1), To: "Draft"}}})
		}
		f.put("docs", doc("a"), doc("b"))
		a, b := f.get("a").ID, f.get("b").ID
		for _, key := range []string{"a", "b"} {
			f.give("blog", catalog.Entry{Record: doc(key), Aliases: []string{"alias of " + key},
				Links: []catalog.Link{mention("x", "")}})
		}
		f.delete("docs", b) // the additions to it stay
		f.delete("blog", f.get("blog").ID, a)
		f.quiet(func() {
			f.check(f.store.DropSource(f.ctx, "blog"))
			f.check(f.store.DropSource(f.ctx, "blog"))
		})
		f.equal("sources", must(f.store.Sources(f.ctx)),
			[]catalog.SourceState{{Name: "docs", Kind: "feed", LastRun: day(1), Cursor: cursor}})
		f.equal("events", len(must(f.store.Events(f.ctx, catalog.EventQuery{}))), 1)
		f.put("docs", doc("b"))
		f.equal("aliases", len(f.aliases(b)), 0)
		f.equal("links", len(f.linksFrom(b)), 0)
		f.equal("foreign", f.put("blog", doc("a")), catalog.Result{Foreign: 1})
		f.check(f.store.SetSource(f.ctx, catalog.SourceState{Name: "blog"}))
		f.equal("again", must(f.store.Sources(f.ctx))[0], catalog.SourceState{Name: "blog", Foreign: true})
	}},
	{"snapshots come newest first and one moment has one", func(f fixture) {
		for i, n := range []int{2, 1, 3, 2} {
			f.check(f.store.PutSnapshot(f.ctx, catalog.Snapshot{Series: "market", CapturedAt: day(n),
				Data: data(map[string]int{"write": i})}))
		}
		f.check(f.store.PutSnapshot(f.ctx, catalog.Snapshot{Series: "stats", CapturedAt: day(9), Data: data(1)}))
		f.equal("snapshots", must(f.store.Snapshots(f.ctx, "market", 2)), []catalog.Snapshot{
			{Series: "market", CapturedAt: day(3), Data: json.RawMessage(`{"write":2}`)},
			{Series: "market", CapturedAt: day(2), Data: json.RawMessage(`{"write":3}`)},
		})
		f.equal("all", len(must(f.store.Snapshots(f.ctx, "market", 0))), 3)
	}},
	{"pruning keeps the newest snapshots of one series", func(f fixture) {
		for n := range 5 {
			for _, series := range []string{"market", "stats"} {
				f.check(f.store.PutSnapshot(f.ctx, catalog.Snapshot{Series: series, CapturedAt: day(n), Data: data(n)}))
			}
		}
		times := func(series string) (list []time.Time) {
			got := must(f.store.Snapshots(f.ctx, series, 0))
			for _, s := range got {
				list = append(list, s.CapturedAt)
			}
			return list
		}
		for _, c := range []struct {
			keep int
			want []time.Time
		}{{9, []time.Time{day(4), day(3), day(2), day(1), day(0)}}, {2, []time.Time{day(4), day(3)}},
			{2, []time.Time{day(4), day(3)}}, {0, nil}} {
			f.check(f.store.PruneSnapshots(f.ctx, "market", c.keep))
			f.equal("kept", times("market"), c.want)
		}
		f.equal("the other series", len(times("stats")), 5)
	}},
	{"a snapshot without series, time or JSON is refused", func(f fixture) {
		for _, s := range []catalog.Snapshot{
			{CapturedAt: day(1), Data: data(1)}, {Series: "stats", Data: data(1)},
			{Series: "stats", CapturedAt: day(1), Data: []byte("{")},
		} {
			if err := f.store.PutSnapshot(f.ctx, s); !errors.Is(err, catalog.ErrBadEntry) {
				f.Fatalf("error is %v", err)
			}
		}
	}},
	{"facts of the data directory", func(f fixture) {
		for _, value := range []string{"", "sample", "corpus"} {
			got := must(f.store.Meta(f.ctx, "network"))
			if value != "" {
				f.check(f.store.SetMeta(f.ctx, "network", value))
				got = must(f.store.Meta(f.ctx, "network"))
			}
			f.equal("value", got, value)
		}
	}},
	{"requests wait in order until they are done", func(f fixture) {
		first := must(f.store.Enqueue(f.ctx, catalog.Request{Kind: "sync", Argument: "docs", CreatedAt: day(1)}))
		second := must(f.store.Enqueue(f.ctx, catalog.Request{Kind: "sync"}))
		open := must(f.store.Requests(f.ctx))
		f.equal("number", len(open), 2)
		f.equal("first", open[0], catalog.Request{ID: first, Kind: "sync", Argument: "docs", CreatedAt: day(1)})
		if open[1].CreatedAt.IsZero() {
			f.Fatal("a request without a time")
		}
		f.check(f.store.FinishRequest(f.ctx, first, "", "no route"))
		open = must(f.store.Requests(f.ctx))
		f.equal("left", open[0].ID, second)
		f.equal("number", len(open), 1)
		f.missing(f.store.FinishRequest(f.ctx, first, "", ""))
		f.missing(f.store.FinishRequest(f.ctx, 99, "", ""))
	}},
}
