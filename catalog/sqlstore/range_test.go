package sqlstore_test

import (
	"strings"
	"time"

	"almanac/catalog"
)

// timed writes records that differ in one time.
func timed(set func(r *catalog.Record, at time.Time)) func(f fixture) {
	return func(f fixture) {
		f.Helper()
		var list []catalog.Record
		for n, key := range []string{"a", "b", "c"} {
			list = append(list, with(key, func(r *catalog.Record) { set(r, day(n+1)) }))
		}
		f.put("docs", append(list, doc("unknown"))...)
	}
}

// operations writes windows around day 10 to day 20.
func operations(f fixture) {
	f.Helper()
	var list []catalog.Record
	for _, w := range []struct {
		key         string
		start, end  int
		since, only bool
	}{
		{key: "over", start: 1, end: 9}, {key: "over-at-once", start: 9, end: 10},
		{key: "ends-inside", start: 1, end: 12},
		{key: "around", start: 1, end: 30}, {key: "inside", start: 12, end: 14},
		{key: "begins-inside", start: 15, end: 40},
		{key: "later", start: 20, end: 21}, {key: "moment-before", start: 9}, {key: "moment-first", start: 10},
		{key: "moment-inside", start: 16}, {key: "moment-last", start: 20}, {key: "deadline-inside", end: 17},
		{key: "deadline-last", end: 20}, {key: "unknown"},
	} {
		list = append(list, with(w.key, func(r *catalog.Record) {
			if w.start > 0 {
				r.StartsAt = day(w.start)
			}
			if w.end > 0 {
				r.EndsAt = day(w.end)
			}
		}))
	}
	f.put("docs", list...)
}

// ranged checks lists over what write writes.
func ranged(write func(f fixture), when catalog.TimeColumn, since, until int, want string) func(f fixture) {
	return func(f fixture) {
		write(f)
		q := catalog.ListQuery{When: when}
		if since > 0 {
			q.Since = day(since)
		}
		if until > 0 {
			q.Until = day(until)
		}
		f.lists(q, strings.Fields(want)...)
	}
}

var rangePromises = []promise{
	{"created is the default and has a name", ranged(timed(func(r *catalog.Record, at time.Time) { r.CreatedAt = at }),
		catalog.TimeCreated, 2, 3, "b")},
	{"by the time of the last update", ranged(timed(func(r *catalog.Record, at time.Time) { r.UpdatedAt = at }),
		catalog.TimeUpdated, 2, 0, "b c")},
	{"by the time of the last activity", ranged(timed(func(r *catalog.Record, at time.Time) { r.LastActivityAt = at }),
		catalog.TimeActivity, 0, 3, "a b")},
	{"by the start", ranged(timed(func(r *catalog.Record, at time.Time) { r.StartsAt = at }),
		catalog.TimeStarts, 2, 3, "b")},
	{"by the end", ranged(timed(func(r *catalog.Record, at time.Time) { r.EndsAt = at }),
		catalog.TimeEnds, 2, 3, "b")},
	{"a start replaces an unknown end", ranged(timed(func(r *catalog.Record, at time.Time) { r.StartsAt = at }),
		catalog.TimeEnds, 2, 0, "b c")},
	{"by the time it was first seen", func(f fixture) {
		f.put("docs", doc("a"))
		at := f.get("a").FirstSeenAt
		f.lists(catalog.ListQuery{When: catalog.TimeFirstSeen, Since: at, Until: at.Add(time.Microsecond)}, "a")
		f.lists(catalog.ListQuery{When: catalog.TimeFirstSeen, Until: at})
		f.lists(catalog.ListQuery{When: catalog.TimeFirstSeen, Since: at.Add(time.Microsecond)})
	}},
	{"a window that overlaps the range is in it", ranged(operations, catalog.TimeWindow, 10, 20,
		"around begins-inside deadline-inside ends-inside inside moment-first moment-inside")},
	{"current and future", ranged(operations, catalog.TimeWindow, 10, 0,
		"around begins-inside deadline-inside deadline-last ends-inside inside later moment-first "+
			"moment-inside moment-last")},
	{"started", ranged(operations, catalog.TimeWindow, 0, 10,
		"around ends-inside moment-before over over-at-once")},
	{"without a range the window selects everything", func(f fixture) {
		operations(f)
		_, total := f.keys(catalog.ListQuery{When: catalog.TimeWindow})
		f.equal("total", total, 14)
	}},
	{"a page of a range has the total of all pages", func(f fixture) {
		operations(f)
		got, total := f.keys(catalog.ListQuery{When: catalog.TimeWindow, Since: day(10), Until: day(20),
			Order: catalog.ByStarts, Limit: 2, Offset: 2})
		f.equal("total", total, 7)
		f.equal("page", got, []string{"moment-first", "inside"})
	}},
}
