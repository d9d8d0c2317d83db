package sqlstore_test

import "almanac/catalog"

var votePromises = []promise{
	{"a voter's votes on records of a kind come newest first", func(f fixture) {
		f.give("docs", catalog.Entry{Record: doc("a"), Votes: []catalog.Vote{
			{Voter: "Ada", Choice: "in_favour", CastAt: day(1)}, {Voter: "Bob", Choice: "against", CastAt: day(2)},
		}}, catalog.Entry{Record: doc("b"), Votes: []catalog.Vote{
			{Voter: "ada", Choice: "abstain", Reason: "late", CastAt: day(3), URL: "https://votes.example/1"},
		}}, catalog.Entry{Record: doc("gone"), Votes: []catalog.Vote{{Voter: "Ada", CastAt: day(4)}}})
		faq := doc("faq")
		faq.Kind = catalog.KindFAQ
		f.give("docs", catalog.Entry{Record: faq, Votes: []catalog.Vote{{Voter: "Ada", CastAt: day(5)}}})
		a, b := f.get("a").ID, f.get("b").ID
		f.delete("docs", f.get("gone").ID)

		late := catalog.Vote{Record: b, Voter: "ada", Choice: "abstain", Reason: "late", CastAt: day(3),
			URL: "https://votes.example/1"}
		bobs := catalog.Vote{Record: a, Voter: "Bob", Choice: "against", CastAt: day(2)}
		early := catalog.Vote{Record: a, Voter: "Ada", Choice: "in_favour", CastAt: day(1)}
		for voter, want := range map[string][]catalog.Vote{
			"ADA": {late, early}, "Bob": {bobs}, "": {late, bobs, early}, "A": nil,
		} {
			f.equal("votes of "+voter, must(f.store.VotesBy(f.ctx, catalog.KindDoc, voter)), want)
		}
	}},
}
