package derive

import (
	"time"

	"almanac/text/dates"
)

// daysIn returns the days that a text names, in order. A month without a day
// means its last day.
func daysIn(text string) []dates.Found {
	found := dates.Find(text)
	for i, f := range found {
		if f.Shape == dates.Month {
			found[i].Time = f.Time.AddDate(0, 1, -1)
		}
	}
	return found
}

// ParseTime reads a time, or the first day that a text names.
func ParseTime(s string) (time.Time, bool) {
	if at, shape := dates.Parse(s, dates.Instant|dates.Free); shape != 0 {
		return at, true
	}
	if days := daysIn(s); len(days) > 0 {
		return days[0].Time, true
	}
	return time.Time{}, false
}
