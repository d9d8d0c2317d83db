package onboarding

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"almanac/catalog"
	"almanac/catalog/derive"
)

// within compares numbers: equal up to a fraction of the live one.
func within(tolerance float64) func(string, string) (degree, bool) {
	return func(stated, live string) (degree, bool) {
		a, okA := parseNumber(stated)
		b, okB := parseNumber(live)
		if !okA || !okB {
			return agrees, false
		}
		switch off := math.Abs(a - b); {
		case off <= tolerance*math.Abs(b):
			return agrees, true
		case off <= 2*tolerance*math.Abs(b):
			return slightly, true
		}
		return clearly, true
	}
}

var numberForm = regexp.MustCompile(`(?i)^\D{0,24}?(-?\d[\d,_'’ ]*(?:\.\d+)?)\s*(k|m|b|bn|t|thousand|million|billion|` +
	`trillion)?\b`)

var magnitudes = map[string]float64{
	"": 1, "k": 1e3, "thousand": 1e3, "m": 1e6, "million": 1e6,
	"b": 1e9, "bn": 1e9, "billion": 1e9, "t": 1e12, "trillion": 1e12,
}

// parseNumber parses a figure as people write it: 1,234, about 30, $1.2M.
func parseNumber(s string) (float64, bool) {
	m := numberForm.FindStringSubmatch(strings.TrimSpace(s))
	if m == nil {
		return 0, false
	}
	digits := strings.Map(func(r rune) rune {
		if strings.ContainsRune(",_'’ ", r) {
			return -1
		}
		return r
	}, m[1])
	n, err := strconv.ParseFloat(digits, 64)
	return n * magnitudes[strings.ToLower(m[2])], err == nil
}

// byVersion compares the stated numbers of versions: 3.4 matches every 3.4.x. A
// difference from the third number on is slight.
func byVersion(stated, live string) (degree, bool) {
	if v := derive.VersionsIn(stated); len(v) > 0 {
		stated = v[0]
	}
	a, okA := derive.ParseVersion(stated)
	b, okB := derive.ParseVersion(live)
	switch {
	case !okA || !okB:
		return agrees, false
	case a.Includes(b):
		return agrees, true
	case a.Apart(b) > 1:
		return slightly, true
	}
	return clearly, true
}

func byText(stated, live string) (degree, bool) {
	if catalog.Fold(stated) == catalog.Fold(live) {
		return agrees, true
	}
	return clearly, strings.TrimSpace(stated) != ""
}

// byDay compares dates; a day off is slight, because time zones are.
func byDay(stated, live string) (degree, bool) {
	a, okA := derive.ParseTime(stated)
	b, okB := derive.ParseTime(live)
	if !okA || !okB {
		return agrees, false
	}
	switch off := a.Truncate(24 * time.Hour).Sub(b.Truncate(24 * time.Hour)).Abs(); {
	case off == 0:
		return agrees, true
	case off <= 24*time.Hour:
		return slightly, true
	}
	return clearly, true
}

// figure writes a number without rounding, "" for nil.
func figure[T int | int64 | float64](n *T) string {
	if n == nil {
		return ""
	}
	return strconv.FormatFloat(float64(*n), 'f', -1, 64)
}
