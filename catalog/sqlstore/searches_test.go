package sqlstore_test

import (
	"fmt"
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
		f.equal("violations", len(must(f.store.Violations(f.ctx, today(1)))), 1)
	}},
	{"days have the sums of their searches, from the first that is asked for", func(f fixture) {
		f.check(f.store.CountSearches(f.ctx, []catalog.SearchCount{{Query: "node", N: 4, Zero: 1, LastAt: today(3)},
			{Query: "node", N: 2, LastAt: today(1)}, {Query: "relay", N: 3, Zero: 3, LastAt: today(1)},
			{Query: "node", N: 1, LastAt: today(0)}}))
		f.equal("days", must(f.store.SearchDays(f.ctx, today(1))), []catalog.SearchDay{
			{Day: catalog.Day(today(1)), N: 5, Zero: 3},
			{Day: catalog.Day(today(0)), N: 1}})
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
		got := must(f.store.Clicks(f.ctx, time.Time{}, "a", "none"))
		day := catalog.Day(today(0))
		f.equal("clicks", got, []catalog.ClickCount{{Query: "a", Record: 7, Position: 1, Shown: 4, Clicked: 1, LastAt: day},
			{Query: "a", Record: 7, Position: 2, Shown: 1, LastAt: day}})
		f.equal("of today", len(must(f.store.Clicks(f.ctx, today(0)))), 3)
	}},
	{"counts of old days are removed", func(f fixture) {
		last, gone := today(catalog.CountDays-2), today(catalog.CountDays)
		f.check(f.store.CountSearches(f.ctx, []catalog.SearchCount{
			{Query: "last", N: 1, LastAt: last}, {Query: "gone", N: 1, LastAt: gone}}))
		f.check(f.store.CountViolations(f.ctx, []catalog.Violation{
			{Directive: "last", N: 1, LastAt: last}, {Directive: "gone", N: 1, LastAt: gone}}))
		got, _ := f.searches(catalog.SearchQuery{})
		f.equal("searches", got, []catalog.SearchCount{{Query: "last", N: 1, LastAt: last}})
		blocked := must(f.store.Violations(f.ctx, time.Time{}))
		f.equal("number", len(blocked), 1)
		f.equal("violations", blocked[0].Directive, "last")
	}},
	{"violations add up by directive and address, most first", func(f fixture) {
		f.check(f.store.CountViolations(f.ctx, []catalog.Violation{
			{Directive: "img-src", Blocked: "https://a.example", N: 1, LastAt: today(1), Clients: 2},
			{Directive: "img-src", Blocked: "https://b.example", N: 2, LastAt: today(1)},
			{Directive: "img-src", Blocked: "inline", N: 1, LastAt: today(0)},
			{Directive: "script-src", Blocked: "eval", N: 7, LastAt: today(1)},
		}))
		f.check(f.store.CountViolations(f.ctx, []catalog.Violation{
			{Directive: "img-src", Blocked: "https://a.example", N: 4, LastAt: today(1).Add(-time.Minute), Clients: 1},
		}))
		a := catalog.Violation{Directive: "img-src", Blocked: "https://a.example", N: 5, LastAt: today(1), Clients: 2}
		b := catalog.Violation{Directive: "img-src", Blocked: "https://b.example", N: 2, LastAt: today(1)}
		inline := catalog.Violation{Directive: "img-src", Blocked: "inline", N: 1, LastAt: today(0)}
		eval := catalog.Violation{Directive: "script-src", Blocked: "eval", N: 7, LastAt: today(1)}
		f.equal("violations", must(f.store.Violations(f.ctx, today(7))), []catalog.Violation{eval, a, b, inline})
		f.equal("of today", must(f.store.Violations(f.ctx, today(0))), []catalog.Violation{inline})
	}},
	{"a day has so many queries, places and addresses, and the counts of those that are there go on", func(f fixture) {
		var searches []catalog.SearchCount
		for i := range catalog.DaySearches + 10 {
			searches = append(searches, catalog.SearchCount{Query: fmt.Sprint("q", i), N: 1, LastAt: today(1)})
		}
		var clicks []catalog.ClickCount
		for i := range catalog.DayClicks + 10 {
			clicks = append(clicks, catalog.ClickCount{Query: "a", Record: int64(i + 1), Position: 1, Shown: 1,
				LastAt: today(1)})
		}
		var blocked []catalog.Violation
		for i := range catalog.DayViolations + 10 {
			blocked = append(blocked, catalog.Violation{Directive: "img-src", Blocked: fmt.Sprintf("https://%d.example", i),
				N: 1, LastAt: today(1)})
		}
		for range 2 { // those above the bound come again
			f.check(f.store.CountSearches(f.ctx, searches))
			f.check(f.store.CountClicks(f.ctx, clicks))
			f.check(f.store.CountViolations(f.ctx, blocked))
		}
		f.check(f.store.CountSearches(f.ctx, []catalog.SearchCount{{Query: "another day", N: 9, LastAt: today(0)}}))
		got, total := f.searches(catalog.SearchQuery{Limit: 2})
		f.equal("queries", total, catalog.DaySearches+1)
		f.equal("counts", []int{got[0].N, got[1].N}, []int{9, 2})
		places := must(f.store.Clicks(f.ctx, time.Time{}))
		f.equal("places", len(places), catalog.DayClicks)
		f.equal("of a place", places[0].Shown, 2)
		addresses := must(f.store.Violations(f.ctx, time.Time{}))
		f.equal("addresses", len(addresses), catalog.DayViolations+1)
		f.equal("others", addresses[0], catalog.Violation{Directive: "img-src", Blocked: catalog.OtherAddress, N: 20,
			LastAt: today(1)})
		f.equal("of an address", addresses[1].N, 2)
	}},
	{"what few clients searched for is not public, and the time is not either", func(f fixture) {
		f.check(f.store.CountSearches(f.ctx, []catalog.SearchCount{
			{Query: "node", N: 9, Zero: 1, LastAt: today(1), Clients: 5, Visitors: 4},
			{Query: "tide", N: 7, Zero: 7, LastAt: today(1), Clients: 5, Visitors: 5},
			{Query: "maria", N: 90, Zero: 80, LastAt: today(1), Clients: 4, Visitors: 4},
		}))
		f.check(f.store.CountSearches(f.ctx, []catalog.SearchCount{
			{Query: "node", N: 1, LastAt: today(1), Clients: 3, Visitors: 5}, // after a restart: as many as are known
			{Query: "node", N: 30, LastAt: today(0), Clients: 1},
			{Query: "tide", N: 1, Zero: 1, LastAt: today(0).Add(time.Minute), Clients: 6, Visitors: 5},
			{Query: "maria", N: 9, LastAt: today(0), Clients: 4},
		}))
		node := catalog.SearchCount{Query: "node", N: 10, Zero: 1, LastAt: catalog.Day(today(1)), Clients: 5, Visitors: 5,
			ShownDays: 1}
		tide := catalog.SearchCount{Query: "tide", N: 8, Zero: 8, LastAt: catalog.Day(today(0)), Clients: 6, Visitors: 5,
			ShownDays: 2}
		for name, c := range map[string]struct {
			query catalog.SearchQuery
			want  []catalog.SearchCount
			total int
		}{
			"most":      {catalog.SearchQuery{Public: true, Since: today(7)}, []catalog.SearchCount{node, tide}, 2},
			"one":       {catalog.SearchQuery{Public: true, Limit: 1}, []catalog.SearchCount{node}, 2},
			"not found": {catalog.SearchQuery{Public: true, Order: catalog.MostZero}, []catalog.SearchCount{tide, node}, 2},
			"today": {catalog.SearchQuery{Public: true, Since: today(0)}, []catalog.SearchCount{{Query: "tide", N: 1, Zero: 1,
				LastAt: catalog.Day(today(0)), Clients: 6, Visitors: 5, ShownDays: 1}}, 1},
			"none": {catalog.SearchQuery{Public: true, Since: today(-1)}, nil, 0},
		} {
			got, total := f.searches(c.query)
			f.equal(name, got, c.want)
			f.equal("total of "+name, total, c.total)
		}
		all, total := f.searches(catalog.SearchQuery{Limit: 1})
		f.equal("all", total, 3)
		f.equal("the operator's", all[0], catalog.SearchCount{Query: "maria", N: 99, Zero: 80, LastAt: today(0), Clients: 4,
			Visitors: 4})
	}},
}
