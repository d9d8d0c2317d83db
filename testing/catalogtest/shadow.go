package catalogtest

import (
	"fmt"
	"time"

	"almanac/catalog"
)

var shadowPromises = []promise{
	{"what a candidate changes adds up by query, the most changed first", func(f fixture) {
		count := func(query, live string, at time.Time, rbo float64, would ...int64) catalog.ShadowCount {
			return catalog.ShadowCount{Live: live, Candidate: "mine@2", Query: query, N: 2, Jaccard: 1, RBO: rbo,
				Was: []int64{1, 2}, Would: would, LastAt: at}
		}
		f.check(f.store.CountShadows(f.ctx, []catalog.ShadowCount{
			count("fees", "default@1", today(0), 1.5, 2, 1), count("same", "default@1", today(1), 2, 1, 2),
			count("fees", "configured", today(0), 0, 9)}))
		f.check(f.store.CountShadows(f.ctx, []catalog.ShadowCount{count("fees", "default@1", today(1), 0.5, 3)}))
		got, total, err := f.store.Shadows(f.ctx, "default@1", "mine@2", 0)
		f.check(err)
		f.equal("list", got, []catalog.ShadowCount{
			{Live: "default@1", Candidate: "mine@2", Query: "fees", N: 4, Jaccard: 0.5, RBO: 0.5, Was: []int64{1, 2},
				Would: []int64{2, 1}, LastAt: today(0)},
			{Live: "default@1", Candidate: "mine@2", Query: "same", N: 2, Jaccard: 0.5, RBO: 1, Was: []int64{1, 2},
				Would: []int64{1, 2}, LastAt: today(1)}})
		f.equal("total", total, catalog.ShadowTotal{Queries: 2, N: 6, Same: 1, Jaccard: 0.5, RBO: 4.0 / 6})
		got, _, err = f.store.Shadows(f.ctx, "default@1", "mine@2", 1)
		f.check(err)
		f.equal("first", len(got), 1)
		got, total, err = f.store.Shadows(f.ctx, "default@1", "mine@3", 0)
		f.check(err)
		f.equal("of another", len(got)+total.N, 0)
	}},
	{"shadow searches are bounded in days and rows", func(f fixture) {
		old := catalog.ShadowCount{Live: "a@1", Candidate: "b@1", Query: "old", N: 1, LastAt: today(catalog.ShadowDays)}
		f.check(f.store.CountShadows(f.ctx, []catalog.ShadowCount{old}))
		_, total, err := f.store.Shadows(f.ctx, "a@1", "b@1", 0)
		f.check(err)
		f.equal("of old days", total.Queries, 0)
		var many []catalog.ShadowCount
		for i := range catalog.MaxShadows + 5 {
			many = append(many, catalog.ShadowCount{Live: "a@1", Candidate: "b@1", Query: fmt.Sprintf("q%05d", i), N: 1,
				LastAt: today(0).Add(time.Duration(i) * time.Millisecond)})
		}
		f.check(f.store.CountShadows(f.ctx, many))
		list, total, err := f.store.Shadows(f.ctx, "a@1", "b@1", 0)
		f.check(err)
		f.equal("queries", total.Queries, catalog.MaxShadows)
		f.equal("the oldest that is kept", list[0].Query, "q00005")
	}},
}
