package derive

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// datedSpan is text[start:end] that names a day.
type datedSpan struct {
	start, end int
	day        time.Time // UTC midnight
}

const monthName = `(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)(?:[a-z]{0,6})?\.?`

// dateForms are the spellings of a day with a year; the numbers-only form
// (3/4/2030) is ambiguous and left out.
var dateForms = []struct {
	re               *regexp.Regexp
	year, month, day int // submatches; day 0: the month's last
}{
	{regexp.MustCompile(`\b(\d{4})-(\d{2})-(\d{2})(?:\b|T)`), 1, 2, 3},
	{regexp.MustCompile(`(?i)\b` + monthName + `\s+(\d{1,2})(?:st|nd|rd|th)?,?\s+(\d{4})\b`), 3, 1, 2},
	{regexp.MustCompile(`(?i)\b(\d{1,2})(?:st|nd|rd|th)?\s+(?:of\s+)?` + monthName + `,?\s+(\d{4})\b`), 3, 2, 1},
	{regexp.MustCompile(`(?i)\b(?:end of\s+)?` + monthName + `,?\s+(\d{4})\b`), 2, 1, 0},
}

var monthNumber = map[string]time.Month{
	"jan": 1, "feb": 2, "mar": 3, "apr": 4, "may": 5, "jun": 6,
	"jul": 7, "aug": 8, "sep": 9, "oct": 10, "nov": 11, "dec": 12,
}

// datesIn returns the days that a text names, in order. A month without a day
// means its last day.
func datesIn(text string) []datedSpan {
	var out []datedSpan
	for _, form := range dateForms {
		for _, m := range form.re.FindAllStringSubmatchIndex(text, -1) {
			group := func(i int) string { return text[m[2*i]:m[2*i+1]] }
			overlaps := slices.ContainsFunc(out, func(d datedSpan) bool { return m[0] < d.end && d.start < m[1] })
			day, ok := makeDay(group(form.year), group(form.month), form.day, group)
			if ok && !overlaps {
				out = append(out, datedSpan{m[0], m[1], day})
			}
		}
	}
	slices.SortFunc(out, func(a, b datedSpan) int { return cmp.Compare(a.start, b.start) })
	return out
}

func makeDay(yearText, monthText string, dayGroup int, group func(int) string) (time.Time, bool) {
	year, _ := strconv.Atoi(yearText) // digits only, by the pattern
	month, named := monthNumber[strings.ToLower(monthText[:min(3, len(monthText))])]
	if !named {
		n, _ := strconv.Atoi(monthText)
		month = time.Month(n)
	}
	if year < 1990 || year > 2199 || month < 1 || month > 12 {
		return time.Time{}, false
	}
	if dayGroup == 0 {
		return time.Date(year, month+1, 0, 0, 0, 0, 0, time.UTC), true
	}
	n, _ := strconv.Atoi(group(dayGroup))
	day := time.Date(year, month, n, 0, 0, 0, 0, time.UTC)
	return day, day.Day() == n && day.Month() == month // 30 February does not exist
}

// ParseTime reads a date or an RFC 3339 time.
func ParseTime(s string) (time.Time, bool) {
	if t, err := time.Parse(time.RFC3339, strings.TrimSpace(s)); err == nil {
		return t.UTC(), true
	}
	if days := datesIn(s); len(days) > 0 {
		return days[0].day, true
	}
	return time.Time{}, false
}
