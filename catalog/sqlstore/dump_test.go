package sqlstore_test

import (
	"errors"
	"fmt"

	"almanac/catalog"
)

// dumped is what Dump passes on, in order.
type dumped struct {
	Source string
	Entry  catalog.Entry
}

func (f fixture) dump() []dumped {
	f.Helper()
	var all []dumped
	f.check(f.store.Dump(f.ctx, func(source string, e catalog.Entry) error {
		all = append(all, dumped{source, e})
		return nil
	}))
	return all
}

var dumpPromises = []promise{
	{"owners come before additions, by id", func(f fixture) {
		f.give("docs", catalog.Entry{Record: doc("b"), Aliases: []string{"two"}})
		f.give("docs", catalog.Entry{Record: full(), Aliases: []string{"alias"},
			Links: []catalog.Link{mention("b", "s"), mention("c", "t")},
			Votes: []catalog.Vote{{Voter: "v", Choice: "against", CastAt: day(3)}, {Voter: "a", Choice: "abstain"}}})
		f.give("a-forge", catalog.Entry{Record: doc("b"), Aliases: []string{"zwei"},
			Links: []catalog.Link{mention("full", "n")}})
		f.give("zoo", catalog.Entry{Record: doc("b"), Aliases: []string{"deux"}})
		f.put("docs", doc("gone"))
		f.delete("docs", f.get("gone").ID)
		b, whole := f.get("b"), f.get("full")
		b.Hash, whole.Hash = f.get("b").Hash, f.get("full").Hash
		addition := func(source, alias string, links ...catalog.Link) dumped {
			return dumped{source, catalog.Entry{Record: catalog.Record{Kind: b.Kind, Key: "b"},
				Aliases: []string{alias}, Links: links}}
		}
		f.equal("dump", f.dump(), []dumped{
			{"docs", catalog.Entry{Record: b, Aliases: []string{"two"}}},
			addition("a-forge", "zwei", mention("full", "n")),
			addition("zoo", "deux"),
			{"docs", catalog.Entry{Record: whole, Aliases: []string{"alias"},
				Links: []catalog.Link{mention("b", "s"), mention("c", "t")},
				Votes: []catalog.Vote{{Voter: "a", Choice: "abstain"},
					{Voter: "v", Choice: "against", CastAt: day(3)}}}},
		})
	}},
	{"many records are each dumped once", func(f fixture) {
		const n = 1203
		b := catalog.Batch{Source: "docs"}
		for i := range n {
			b.Entries = append(b.Entries, catalog.Entry{Record: doc(fmt.Sprint("d", i)),
				Aliases: []string{fmt.Sprint("alias", i)}})
		}
		_, err := f.store.Apply(f.ctx, b)
		f.check(err)
		seen := map[string]int{}
		last := int64(0)
		for _, d := range f.dump() {
			if d.Entry.Record.ID <= last {
				f.Fatalf("id %d after %d", d.Entry.Record.ID, last)
			}
			last = d.Entry.Record.ID
			seen[d.Entry.Aliases[0]]++
		}
		f.equal("records", len(seen), n)
	}},
	{"an error ends it", func(f fixture) {
		f.put("docs", doc("a"))
		f.put("docs", doc("b"))
		stop, calls := errors.New("stop"), 0
		err := f.store.Dump(f.ctx, func(string, catalog.Entry) error { calls++; return stop })
		if !errors.Is(err, stop) || calls != 1 {
			f.Errorf("%v after %d calls", err, calls)
		}
	}},
	{"restored records keep their ids and first days", func(f fixture) {
		r := doc("a")
		r.ID, r.FirstSeenAt = 1_000_077, day(-400)
		restore := func(r catalog.Record) error {
			_, err := f.store.Apply(f.ctx, catalog.Batch{Source: "docs", Restore: true,
				Entries: []catalog.Entry{{Record: r}}})
			return err
		}
		f.check(restore(r))
		got := f.get("a")
		f.equal("id", got.ID, r.ID)
		f.equal("first seen", got.FirstSeenAt, r.FirstSeenAt)
		f.quiet(func() { f.check(restore(r)) })
		other := r
		other.Key = "b"
		if err := restore(other); !errors.Is(err, catalog.ErrConflict) {
			f.Errorf("an id of another: %v", err)
		}
		for _, bad := range []int64{0, 42, -1} {
			if other.ID = bad; !errors.Is(restore(other), catalog.ErrBadEntry) {
				f.Errorf("id %d was taken", bad)
			}
		}
		f.put("docs", doc("c"))
		f.equal("next id", f.get("c").ID, r.ID+1)
	}},
}
