package market

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"
)

var testNow = time.Date(2031, 6, 1, 12, 0, 0, 0, time.UTC)

func FuzzFigures(f *testing.F) {
	for _, text := range []string{"0", "-0", "1e308", `"NaN"`, `"1e-5"`, `"Infinity"`, "null", `"12abc"`,
		`"2031-06-01"`, "1938078000000", `"\ud800"`, "[]", "99999999999999999999999999"} {
		f.Add(text, 100.0)
	}
	f.Fuzz(func(t *testing.T, text string, divide float64) {
		var by divisor
		if by.UnmarshalText(strconv.AppendFloat(nil, divide, 'g', -1, 64)) != nil || !json.Valid([]byte(text)) {
			return
		}
		n, err := amount(json.RawMessage(text), by, 0, maxUSD)
		if err == nil && n != nil && (math.IsNaN(*n) || *n < 0 || *n > maxUSD || math.Signbit(*n)) {
			t.Errorf("%q is %g", text, *n)
		}
		if at := parseTime(strings.Trim(text, `"`), testNow); at != "" {
			parsed, err := time.Parse(time.RFC3339, at)
			if err != nil || parsed.Before(firstTime) || parsed.After(testNow.Add(maxAhead)) {
				t.Errorf("%q is %q", text, at)
			}
		}
	})
}
