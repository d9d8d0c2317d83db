package sqlstore_test

import (
	"encoding/json"

	"almanac/catalog"
)

// forged is an entry of another source than the record's owner, with facts.
func forged(f catalog.Facts) catalog.Entry { return catalog.Entry{Record: doc("full"), Facts: &f} }

var someFacts = catalog.Facts{State: "open", Category: "wallets", LastActivityAt: day(9),
	Tags: []string{"label:keys", "security"}, Data: json.RawMessage(`{"includes":null,"format":"<plain>"}`)}

// owned is a record that facts can change in every way.
func owned() catalog.Record {
	r := full()
	r.Tags = []string{"label:node", "start"}
	r.Data = json.RawMessage(`{"includes":["a.md"],"format":"<i>\u2028"}`)
	return r
}

// plain is a record without what the store sets.
func plain(r catalog.Record) catalog.Record {
	r.ID, r.Hash, r.Source = 0, "", ""
	r.FirstSeenAt = r.DeletedAt
	return r
}

var factPromises = []promise{
	{"facts are laid over what the owner says", func(f fixture) {
		f.put("docs", owned())
		seq := f.last()
		f.equal("result", f.give("forge", forged(someFacts)), catalog.Result{Foreign: 1})
		f.equal("record", plain(f.get("full")), someFacts.Over(owned()))
		f.equal("changes", len(f.changes(seq)), 1)
		f.lists(catalog.ListQuery{States: []string{"open"}}, "full")
		f.lists(catalog.ListQuery{States: []string{"current"}})
		f.lists(catalog.ListQuery{Tags: []string{"label:keys"}}, "full")
		f.lists(catalog.ListQuery{Tags: []string{"label:node"}})
		f.lists(catalog.ListQuery{Text: "wallets"}, "full")
		f.quiet(func() { f.equal("again", f.give("forge", forged(someFacts)), catalog.Result{Foreign: 1}) })
		f.quiet(func() { f.equal("the owner again", f.put("docs", owned()), catalog.Result{Unchanged: 1}) })
		f.equal("live keys", must(f.store.LiveKeys(f.ctx, "forge")), map[catalog.Ref]int64{ref("full"): f.get("full").ID})
	}},
	{"facts survive the owner's rewrites", func(f fixture) {
		f.put("docs", owned())
		f.give("forge", forged(someFacts))
		r := owned()
		r.Title, r.State, r.Tags = "Rewritten", "old", []string{"end", "label:other"}
		f.equal("result", f.put("docs", r), catalog.Result{Updated: 1})
		f.equal("record", plain(f.get("full")), someFacts.Over(r))
		f.give("forge", catalog.Entry{Record: doc("full")})
		f.equal("without them", plain(f.get("full")), r)
	}},
	{"facts are replaced as a whole, and go when their source stops giving them", func(f fixture) {
		f.put("docs", owned())
		before := f.get("full")
		f.give("forge", forged(someFacts))
		other := catalog.Facts{Tags: []string{"label:other"}}
		f.give("forge", forged(other))
		f.equal("other facts", plain(f.get("full")), other.Over(owned()))
		f.give("forge", forged(someFacts))
		seq := f.last()
		f.equal("result", f.delete("forge", before.ID), catalog.Result{})
		f.equal("record", f.get("full"), before)
		f.equal("changes", len(f.changes(seq)), 1)
		f.equal("live keys", len(must(f.store.LiveKeys(f.ctx, "forge"))), 0)
	}},
	{"of two sources with facts the first by name is believed", func(f fixture) {
		first, second := catalog.Facts{State: "one"}, catalog.Facts{State: "two", Category: "two"}
		f.put("docs", owned())
		f.give("a", forged(first))
		f.give("b", forged(second))
		f.equal("record", plain(f.get("full")), first.Over(second.Over(owned())))
		f.give("b", catalog.Entry{Record: doc("full")})
		f.give("b", forged(second))
		f.equal("in the other order", plain(f.get("full")), first.Over(second.Over(owned())))
		f.delete("a", f.get("full").ID)
		f.equal("without the first", plain(f.get("full")), second.Over(owned()))
	}},
	{"an owner's facts stay when another source takes the record over", func(f fixture) {
		e := catalog.Entry{Record: someFacts.Over(owned()), Facts: &someFacts}
		f.give("forge", e)
		f.equal("its own", plain(f.get("full")), e.Record)
		over := catalog.Batch{Source: "docs", Over: []string{"forge"}, Entries: entries(owned())}
		f.equal("result", f.apply(over), catalog.Result{Updated: 1})
		f.equal("record", plain(f.get("full")), someFacts.Over(owned()))
		f.quiet(func() { f.equal("again", f.apply(over), catalog.Result{Unchanged: 1}) })
		f.give("forge", e)
		f.equal("the former owner again", plain(f.get("full")), someFacts.Over(owned()))
		f.delete("forge", f.get("full").ID)
		f.equal("without it", plain(f.get("full")), owned())
	}},
	{"facts of a source that becomes the owner are not laid over its record", func(f fixture) {
		f.put("docs", owned())
		f.give("forge", forged(someFacts))
		f.apply(catalog.Batch{Source: "forge", Over: []string{"docs"}, Entries: entries(owned())})
		f.equal("record", plain(f.get("full")), owned())
	}},
	{"a revived record has the facts of other sources", func(f fixture) {
		f.put("docs", owned())
		f.give("forge", forged(someFacts))
		id := f.get("full").ID
		f.delete("docs", id)
		f.gone("full")
		f.equal("result", f.put("docs", owned()), catalog.Result{Created: 1})
		f.equal("record", plain(f.get("full")), someFacts.Over(owned()))
		f.delete("docs", id)
		f.delete("forge", id)
		f.put("docs", owned())
		f.equal("without them", plain(f.get("full")), owned())
	}},
	{"facts create no record", func(f fixture) {
		e := forged(someFacts)
		e.Addition = true
		f.quiet(func() { f.give("forge", e) })
		f.gone("full")
		f.put("docs", owned())
		f.give("forge", e)
		f.equal("record", plain(f.get("full")), someFacts.Over(owned()))
	}},
	{"facts are dumped apart from what the owner says, and restored", func(f fixture) {
		f.put("docs", owned())
		own := f.get("full")
		f.give("forge", forged(someFacts))
		merged := f.get("full")
		dump := f.dump()
		f.equal("dump", dump, []dumped{{"docs", catalog.Entry{Record: own}},
			{"forge", catalog.Entry{Record: catalog.Record{Kind: own.Kind, Key: "full"}, Facts: &someFacts}}})
		e, err := dump[0].Entry.Normalize()
		f.check(err)
		f.equal("hash", e.ContentHash(), own.Hash)
		f.delete("forge", own.ID)
		f.delete("docs", own.ID)
		for _, d := range dump {
			f.apply(catalog.Batch{Source: d.Source, Restore: true, Entries: []catalog.Entry{d.Entry}})
		}
		f.equal("restored", f.get("full"), merged)
	}},
}
