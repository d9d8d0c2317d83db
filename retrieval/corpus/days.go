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

// with returns the days with the dates of documents added, or taken away.
func (d days) with(add, remove []*Document) days {
	next := slices.Clone(d)
	count := func(documents []*Document, sign int) {
		for _, x := range documents {
			if x.Attributes.Date.IsZero() {
				continue
			}
			at := dayOf(x.Attributes.Date)
			i, ok := slices.BinarySearchFunc(next, at, func(c dayCount, at int) int { return c.day - at })
			if !ok {
				next = slices.Insert(next, i, dayCount{day: at})
			}
			next[i].n += sign
		}
	}
	count(add, 1)
	count(remove, -1)
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
