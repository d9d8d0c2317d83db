package catalogtest

import (
	"time"

	"almanac/catalog"
)

// started is one moment, so that a midnight between two uses does no harm.
var started = time.Now()

// today is a moment of the day that is so many days before the current one:
// counts of old days are removed by the clock.
func today(before int) time.Time { return catalog.Day(started).AddDate(0, 0, -before).Add(time.Hour) }

func (f fixture) searches(q catalog.SearchQuery) ([]catalog.SearchCount, int) {
	f.Helper()
	list, total, err := f.store.Searches(f.ctx, q)
	f.check(err)
	return list, total
}

var analyticsPromises = []promise{
	{"searches of a day add up, of several days on reading", func(f fixture) {
		f.check(f.store.CountSearches(f.ctx, []catalog.SearchCount{
			{Query: "node", N: 2, LastAt: today(1)}, {Query: "tide", N: 4, Zero: 4, LastAt: today(1)},
			{Query: "moon", N: 1, Zero: 1, LastAt: today(0)},
		}))
		f.check(f.store.CountSearches(f.ctx, []catalog.SearchCount{
			{Query: "node", N: 3, Zero: 1, LastAt: today(0)}, {Query: "node", N: 1, LastAt: today(0).Add(-time.Minute)},
			{Query: "moon", N: 1, LastAt: today(0).Add(time.Minute)},
		}))
		node := catalog.SearchCount{Query: "node", N: 6, Zero: 1, LastAt: today(0)}
		tide := catalog.SearchCount{Query: "tide", N: 4, Zero: 4, LastAt: today(1)}
		moon := catalog.SearchCount{Query: "moon", N: 2, Zero: 1, LastAt: today(0).Add(time.Minute)}
		for name, c := range map[string]struct {
			query catalog.SearchQuery
			want  []catalog.SearchCount
			total int
		}{
			"all":      {catalog.SearchQuery{}, []catalog.SearchCount{node, tide, moon}, 3},
			"the most": {catalog.SearchQuery{Limit: 1}, []catalog.SearchCount{node}, 3},
			"zero":     {catalog.SearchQuery{Order: catalog.MostZero}, []catalog.SearchCount{tide, moon, node}, 3},
			"since then": {catalog.SearchQuery{Since: today(1).Add(9 * time.Hour)},
				[]catalog.SearchCount{node, tide, moon}, 3},
			"today": {catalog.SearchQuery{Since: today(0)}, []catalog.SearchCount{
				{Query: "node", N: 4, Zero: 1, LastAt: today(0)}, moon}, 2},
			"zero, one": {catalog.SearchQuery{Order: catalog.MostZero, Limit: 1, Since: today(0)}, []catalog.SearchCount{moon},
				2},
			"none": {catalog.SearchQuery{Since: today(-1)}, nil, 0},
		} {
			got, total := f.searches(c.query)
			f.equal(name, got, c.want)
			f.equal("total of "+name, total, c.total)
		}
	}},
	{"a count without a time is for now", func(f fixture) {
		f.check(f.store.CountSearches(f.ctx, []catalog.SearchCount{{Query: "node", N: 1}}))
		f.check(f.store.CountViolations(f.ctx, []catalog.Violation{{Directive: "img-src", N: 1}}))
		_, total := f.searches(catalog.SearchQuery{Since: today(1)})
		f.equal("searches", total, 1)
		blocked, err := f.store.Violations(f.ctx, today(1), 0)
		f.check(err)
		f.equal("violations", len(blocked), 1)
	}},
	{"a query that found something is not among those without results", func(f fixture) {
		f.check(f.store.CountSearches(f.ctx, []catalog.SearchCount{{Query: "node", N: 2, LastAt: today(0)}}))
		got, total := f.searches(catalog.SearchQuery{Order: catalog.MostZero})
		f.equal("searches", got, []catalog.SearchCount{})
		f.equal("total", total, 0)
	}},
	{"searches are listed by what became of them", func(f fixture) {
		f.check(f.store.CountSearches(f.ctx, []catalog.SearchCount{
			{Query: "a", N: 3, Corrected: 2, Took: 9 * time.Millisecond, Longest: 5 * time.Millisecond, LastAt: today(1)},
			{Query: "b", N: 2, Corrected: 1, Degraded: 2, Took: 8 * time.Millisecond, Longest: 7 * time.Millisecond,
				LastAt: today(0)},
		}))
		f.check(f.store.CountSearches(f.ctx, []catalog.SearchCount{
			{Query: "a", N: 1, Took: time.Millisecond, Longest: time.Millisecond, LastAt: today(0)}}))
		for order, want := range map[catalog.SearchOrder]string{
			catalog.MostSearched: "ab", catalog.MostCorrected: "ab", catalog.MostDegraded: "b", catalog.Slowest: "ba",
			catalog.MostZero: ""} {
			list, total := f.searches(catalog.SearchQuery{Order: order})
			got := ""
			for _, c := range list {
				got += c.Query
			}
			f.equal(string(order), got, want)
			f.equal("total of "+string(order), total, len(want))
		}
		list, _ := f.searches(catalog.SearchQuery{Limit: 1})
		f.equal("sums", list[0], catalog.SearchCount{Query: "a", N: 4, Corrected: 2, Took: 10 * time.Millisecond,
			Longest: 5 * time.Millisecond, LastAt: today(0)})
		_, _, err := f.store.Searches(f.ctx, catalog.SearchQuery{Order: "x; DROP TABLE searches"})
		if err == nil {
			f.Fatal("an unknown order is no error")
		}
	}},
	{"clicks add up by place", func(f fixture) {
		f.check(f.store.CountClicks(f.ctx, []catalog.ClickCount{
			{Query: "a", Record: 7, Position: 1, Shown: 3, Clicked: 1, LastAt: today(1)},
			{Query: "a", Record: 7, Position: 1, Shown: 1, LastAt: today(0)},
			{Query: "a", Record: 7, Position: 2, Shown: 1, LastAt: today(0)}, {Query: "b", Record: 8, Position: 1, Shown: 1},
			{Query: "gone", Record: 8, Position: 1, Shown: 1, LastAt: today(catalog.CountDays)},
		}))
		got, err := f.store.Clicks(f.ctx, "a", time.Time{})
		f.check(err)
		day := catalog.Day(today(0))
		f.equal("clicks", got, []catalog.ClickCount{{Query: "a", Record: 7, Position: 1, Shown: 4, Clicked: 1, LastAt: day},
			{Query: "a", Record: 7, Position: 2, Shown: 1, LastAt: day}})
		all, err := f.store.Clicks(f.ctx, "", today(0))
		f.check(err)
		f.equal("of today", len(all), 3)
	}},
	{"counts of old days are removed", func(f fixture) {
		last, gone := today(catalog.CountDays-2), today(catalog.CountDays)
		f.check(f.store.CountSearches(f.ctx, []catalog.SearchCount{
			{Query: "last", N: 1, LastAt: last}, {Query: "gone", N: 1, LastAt: gone}}))
		f.check(f.store.CountViolations(f.ctx, []catalog.Violation{
			{Directive: "last", N: 1, LastAt: last}, {Directive: "gone", N: 1, LastAt: gone}}))
		got, _ := f.searches(catalog.SearchQuery{})
		f.equal("searches", got, []catalog.SearchCount{{Query: "last", N: 1, LastAt: last}})
		blocked, err := f.store.Violations(f.ctx, time.Time{}, 0)
		f.check(err)
		f.equal("number", len(blocked), 1)
		f.equal("violations", blocked[0].Directive, "last")
	}},
	{"violations add up by directive, with the most blocked addresses", func(f fixture) {
		f.check(f.store.CountViolations(f.ctx, []catalog.Violation{
			{Directive: "img-src", Blocked: "https://a.example", N: 1, LastAt: today(1)},
			{Directive: "img-src", Blocked: "https://b.example", N: 2, LastAt: today(1)},
			{Directive: "img-src", Blocked: "inline", N: 1, LastAt: today(0)},
			{Directive: "script-src", Blocked: "eval", N: 7, LastAt: today(1)},
		}))
		f.check(f.store.CountViolations(f.ctx, []catalog.Violation{
			{Directive: "img-src", Blocked: "https://a.example", N: 4, LastAt: today(1).Add(-time.Minute)},
		}))
		a := catalog.Violation{Directive: "img-src", Blocked: "https://a.example", N: 5, LastAt: today(1)}
		b := catalog.Violation{Directive: "img-src", Blocked: "https://b.example", N: 2, LastAt: today(1)}
		inline := catalog.Violation{Directive: "img-src", Blocked: "inline", N: 1, LastAt: today(0)}
		eval := catalog.Violation{Directive: "script-src", Blocked: "eval", N: 7, LastAt: today(1)}
		got, err := f.store.Violations(f.ctx, today(7), 2)
		f.check(err)
		f.equal("violations", got, []catalog.DirectiveCount{
			{Directive: "img-src", N: 8, LastAt: today(0), Top: []catalog.Violation{a, b}},
			{Directive: "script-src", N: 7, LastAt: today(1), Top: []catalog.Violation{eval}},
		})
		got, err = f.store.Violations(f.ctx, today(0), 2)
		f.check(err)
		f.equal("of today", got, []catalog.DirectiveCount{
			{Directive: "img-src", N: 1, LastAt: today(0), Top: []catalog.Violation{inline}}})
	}},
}
