package corpus

import (
	"slices"
	"time"
)

// days counts the documents of each day, ascending. A published value never
// changes.
type days []dayCount

type dayCount struct {
	day, n int // day: since 1970, in UTC
}

const day = 24 * time.Hour

func dayOf(t time.Time) int {
	return int((t.Unix() - int64((t.Unix()%86400+86400)%86400)) / 86400)
}

// daysOf returns the days of documents that are added, less those of documents that are
// taken away.
func daysOf(add, remove []*Document) (d days) {
	count := func(documents []*Document, sign int) {
		for _, x := range documents {
			if !x.Attributes.Date.IsZero() {
				d = d.count(dayOf(x.Attributes.Date), sign)
			}
		}
	}
	count(add, 1)
	count(remove, -1)
	return d
}

// count adds to a day in place.
func (d days) count(at, n int) days {
	i, ok := slices.BinarySearchFunc(d, at, func(c dayCount, at int) int { return c.day - at })
	if !ok {
		d = slices.Insert(d, i, dayCount{day: at})
	}
	d[i].n += n
	return d
}

// plus returns the days with others added.
func (d days) plus(others days) days {
	next := slices.Clone(d)
	for _, x := range others {
		next = next.count(x.day, x.n)
	}
	return slices.DeleteFunc(next, func(c dayCount) bool { return c.n == 0 })
}

// newest returns the end of the last day with a document that had begun by now;
// zero if there is none.
func (d days) newest(now time.Time) time.Time {
	i, ok := slices.BinarySearchFunc(d, dayOf(now), func(c dayCount, at int) int { return c.day - at })
	if !ok {
		i--
	}
	if i < 0 {
		return time.Time{}
	}
	return time.Unix(int64(d[i].day)*86400, 0).Add(day).UTC()
}
