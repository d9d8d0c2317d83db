package dates

import (
	"cmp"
	"slices"
	"time"
)

// Found is a date within a text: text[Start:End].
type Found struct {
	Start, End int
	Time       time.Time
	Shape      Shape // Day or Month
}

// within are the forms of dates in running text. Numbers alone must be ISO 8601.
var within = compile(
	`\b{year}-(?P<month>\d{2})-(?P<day>\d{2})(?:\b|T)`,
	`\b{name}\s+{nth},?\s+{year}\b`,
	`\b{nth}\s+(?:of\s+)?{name},?\s+{year}\b`,
	`\b(?:end of\s+)?{name},?\s+{year}\b`,
)

// Find returns the days and months that a text names, in order. Their years are
// from 1990 to 2199, because running text has other numbers too.
func Find(text string) []Found {
	var out []Found
	for _, f := range within {
		before := out // of the forms before, in order; those of one form do not overlap
		for _, m := range f.FindAllStringSubmatchIndex(text, -1) {
			at, shape := f.read(text, m)
			i, _ := slices.BinarySearchFunc(before, m[0]+1, func(o Found, end int) int { return cmp.Compare(o.End, end) })
			overlaps := i < len(before) && before[i].Start < m[1]
			if shape != 0 && !overlaps && at.Year() >= 1990 && at.Year() < 2200 {
				out = append(out, Found{m[0], m[1], at, shape})
			}
		}
		slices.SortFunc(out, func(a, b Found) int { return cmp.Compare(a.Start, b.Start) })
	}
	return out
}
