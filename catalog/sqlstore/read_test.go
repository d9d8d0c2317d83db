package sqlstore_test

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"almanac/catalog"
)

// many writes n documents and returns their ids and keys in order.
func many(f fixture, n int) (ids []int64, keys []string) {
	f.Helper()
	var records []catalog.Record
	for i := range n {
		key := fmt.Sprintf("doc-%05d", i)
		keys = append(keys, key)
		records = append(records, catalog.Record{Kind: catalog.KindDoc, Key: key, Title: key, Tags: []string{"many"}})
	}
	f.put("docs", records...)
	live := must(f.store.LiveKeys(f.ctx, "docs"))
	for _, k := range keys {
		ids = append(ids, live[ref(k)])
	}
	return ids, keys
}

// tenThousand spreads the ids among others that nothing has.
func tenThousand(ids []int64) []int64 {
	var list []int64
	for i := range 10_000 {
		if i%8 == 0 && i/8 < len(ids) {
			list = append(list, ids[i/8])
		} else {
			list = append(list, int64(i))
		}
	}
	return list
}

// numbersTo are texts of numbers: more than one statement of a database takes as parts.
func numbersTo(n int) (list []string) {
	for i := range n {
		list = append(list, strconv.Itoa(i+100_000_000))
	}
	return list
}

var readPromises = []promise{
	{"what is not there is ErrNotFound", func(f fixture) {
		f.gone("a")
		f.gone("")
		_, err := f.store.ByID(f.ctx, 1)
		f.missing(err)
	}},
	{"a key is matched exactly", func(f fixture) {
		f.put("docs", doc("Key"))
		f.gone("key")
		f.gone("Key ")
	}},
	{"records come in the requested order without missing ones", func(f fixture) {
		ids, keys := many(f, 3)
		f.equal("keys", keysOf(must(f.store.Records(f.ctx, []int64{ids[2], 7, ids[0], ids[2]}))),
			[]string{keys[2], keys[0], keys[2]})
	}},
	{"records have body and tags", func(f fixture) {
		f.put("docs", full())
		want := f.get("full")
		f.equal("records", must(f.store.Records(f.ctx, []int64{want.ID})), []catalog.Record{want})
	}},
	{"heads are records without their bodies", func(f fixture) {
		f.put("docs", full())
		want := f.get("full")
		heads := must(f.store.Heads(f.ctx, []int64{7, want.ID}))
		want.Body = ""
		f.equal("heads", heads, []catalog.Record{want})
	}},
	{"the head of a record is found as the record is", func(f fixture) {
		f.give("docs", catalog.Entry{Record: full(), Aliases: []string{"other"}})
		want := f.get("full")
		want.Body = ""
		for _, key := range []string{"full", "other"} {
			f.equal("head", must(f.store.Head(f.ctx, ref(key))), want)
		}
		_, err := f.store.Head(f.ctx, ref("none"))
		f.missing(err)
	}},
	{"heads are found by references of several kinds as each is alone", func(f fixture) {
		paper := doc("paper")
		paper.Kind = catalog.KindWhitepaper
		gone := doc("gone")
		f.give("docs", catalog.Entry{Record: full(), Aliases: []string{"other", "paper"}}, catalog.Entry{Record: paper},
			catalog.Entry{Record: gone, Aliases: []string{"lost"}})
		f.delete("docs", f.get("gone").ID)
		refs := []catalog.Ref{ref("full"), ref("none"), ref("other"), ref("lost"), ref("paper"), paper.Ref(), ref("full"),
			{Kind: catalog.KindWhitepaper, Key: "full"}, ref("full\xff"), {}}
		heads := must(f.store.HeadsOf(f.ctx, refs))
		want := map[catalog.Ref]catalog.Record{}
		for _, r := range refs {
			if head, err := f.store.Head(f.ctx, r); err == nil {
				want[r] = head
			}
		}
		f.equal("found", len(want), 4)
		f.equal("heads", heads, want)
		f.equal("heads of none", len(must(f.store.HeadsOf(f.ctx, nil))), 0)
	}},
	{"ten thousand references are one call", func(f fixture) {
		_, keys := many(f, 1_200)
		var refs []catalog.Ref
		for i := range 10_000 {
			refs = append(refs, ref(keys[i%len(keys)]))
		}
		heads := must(f.store.HeadsOf(f.ctx, refs))
		f.equal("heads", len(heads), 1_200)
		f.equal("tags", heads[refs[1_199]].Tags, []string{"many"})
	}},
	{"no ids give no records", func(f fixture) {
		f.equal("records", len(must(f.store.Records(f.ctx, nil))), 0)
	}},
	{"ten thousand ids are one call", func(f fixture) {
		ids, keys := many(f, 1_200)
		ids = tenThousand(ids)
		slices.Reverse(ids)
		slices.Reverse(keys)
		list := must(f.store.Records(f.ctx, ids))
		f.equal("keys", keysOf(list), keys)
		f.equal("tags", list[1_199].Tags, []string{"many"})
	}},
	{"a path finds its records, oldest first", func(f fixture) {
		a, b, c := doc("b"), doc("a"), doc("c")
		a.Path, b.Path, c.Path = "x/y.md", "x/y.md", "x/Y.md"
		f.put("docs", a, b, c)
		list := must(f.store.ByPath(f.ctx, "x/y.md"))
		f.equal("keys", keysOf(list), []string{"b", "a"})
		f.equal("body", list[0].Body, "Body of b")
	}},
	{"handles find the records that have one, oldest first, without bodies", func(f fixture) {
		proposal, topic, video, a := doc("TIP-00008"), doc("7"), doc("7"), doc("a")
		proposal.Kind, topic.Kind, video.Kind = catalog.KindCIP, catalog.KindTopic, catalog.KindVideo
		proposal.URL, a.Path = "https://forge.example/8", "x/y.md"
		f.put("docs", proposal, topic, video, a, doc("b"), doc("gone"))
		f.delete("docs", f.get("gone").ID)
		for _, tt := range []struct {
			handles []string
			want    []string
		}{
			{[]string{"https://forge.example/8"}, []string{"TIP-00008"}}, {[]string{"00008"}, []string{"TIP-00008"}},
			{[]string{"7"}, []string{"7", "7"}}, {[]string{"topic:7"}, []string{"7"}}, {[]string{"doc:7"}, nil},
			{[]string{strconv.FormatInt(f.get("b").ID, 10), "x/y.md", "a", "cip:TIP-00008"},
				[]string{"TIP-00008", "a", "b"}},
			{numbersTo(600), nil},
			{[]string{"", "gone", "doc:gone", "8", "none:a", "x/Y.md", strings.Repeat("x", 100_000)}, nil}, {nil, nil},
		} {
			list := must(f.store.Handled(f.ctx, tt.handles))
			f.equal(strings.Join(tt.handles, " "), keysOf(list), tt.want)
			for _, r := range list {
				f.equal("body", r.Body, "")
			}
		}
	}},
	{"the empty path finds nothing", func(f fixture) {
		f.put("docs", doc("a"))
		f.equal("records", len(must(f.store.ByPath(f.ctx, ""))), 0)
	}},
	{"tags are counted by kind and beginning, most first", func(f fixture) {
		faq := doc("faq")
		faq.Kind, faq.Tags = catalog.KindFAQ, []string{"label:node"}
		tagged := func(key string, tags ...string) catalog.Record {
			return with(key, func(r *catalog.Record) { r.Tags = tags })
		}
		f.put("docs", faq, tagged("a", "label:node", "labels"), tagged("b", "label:node", "label:API"),
			tagged("c", "label:élan", "stub"), tagged("gone", "label:node"))
		f.delete("docs", f.get("gone").ID)
		counts := must(f.store.TagCounts(f.ctx, catalog.KindDoc, "label:"))
		f.equal("counts", counts, []catalog.TagCount{{Tag: "label:node", N: 2}, {Tag: "label:API", N: 1},
			{Tag: "label:élan", N: 1}})
		f.equal("all", len(must(f.store.TagCounts(f.ctx, catalog.KindDoc, ""))), 5)
		f.equal("of another kind", len(must(f.store.TagCounts(f.ctx, catalog.KindPost, "label:"))), 0)
	}},
	{"counts group live records", func(f fixture) {
		child, open := doc("child"), doc("open")
		open.State, open.Container, open.Category = "open", "example/docs", "Guide"
		faq := doc("faq")
		faq.Kind = catalog.KindFAQ
		f.put("docs", doc("a"), doc("b"), open)
		f.give("docs", catalog.Entry{Record: child, Parent: ref("a")})
		f.put("blog", faq)
		f.equal("counts", must(f.store.Counts(f.ctx)), []catalog.Count{
			{Kind: catalog.KindDoc, Source: "docs", N: 1},
			{Kind: catalog.KindDoc, Source: "docs", TopLevel: true, N: 2},
			{Kind: catalog.KindDoc, State: "open", Source: "docs", Container: "example/docs", Category: "Guide",
				TopLevel: true, N: 1},
			{Kind: catalog.KindFAQ, Source: "blog", TopLevel: true, N: 1},
		})
	}},
	{"a cancelled context ends every call", func(f fixture) {
		f.put("docs", doc("a"))
		id := f.get("a").ID
		ctx, cancel := context.WithCancel(f.ctx)
		cancel()
		s := f.store
		for name, call := range map[string]func() error{
			"get":         func() error { _, err := s.Get(ctx, ref("a")); return err },
			"by id":       func() error { _, err := s.ByID(ctx, id); return err },
			"handled":     func() error { _, err := s.Handled(ctx, []string{"a"}); return err },
			"foreign":     func() error { _, err := s.ForeignCounts(ctx); return err },
			"list":        func() error { _, _, err := s.List(ctx, catalog.ListQuery{}); return err },
			"counts":      func() error { _, err := s.Counts(ctx); return err },
			"links":       func() error { _, err := s.LinksFrom(ctx, id); return err },
			"events":      func() error { _, err := s.Events(ctx, catalog.EventQuery{}); return err },
			"changes":     func() error { _, err := s.Changes(ctx, 0, 0); return err },
			"live keys":   func() error { _, err := s.LiveKeys(ctx, "docs"); return err },
			"drop source": func() error { return s.DropSource(ctx, "docs") },
			"set meta":    func() error { return s.SetMeta(ctx, "k", "v") },
			"apply": func() error {
				_, err := s.Apply(ctx, catalog.Batch{Source: "docs", Entries: entries(doc("b"))})
				return err
			},
		} {
			if err := call(); !isCancelled(err) {
				f.Errorf("%s: error is %v, want context.Canceled", name, err)
			}
		}
		f.gone("b")
		f.put("docs", doc("c")) // the store still works
		f.get("c")
	}},
}
