package market

import (
	"encoding/json"
	"math"
	"strconv"
	"testing"
	"time"
)

func TestNumber(t *testing.T) {
	good := map[string]float64{"0": 0, "-0.0": 0, "12": 12, `"12.50"`: 12.5, `" 7 "`: 7, "1E3": 1000, `".5"`: 0.5,
		`"5."`: 5, `"+3"`: 3, "1e-400": 0, "123456789012345678901234567890": 123456789012345678901234567890}
	for text, want := range good {
		if got, err := parseNumber(json.RawMessage(text), 0); err != nil || got != want {
			t.Errorf("%s is %g, %v; want %g", text, got, err, want)
		}
	}
	for _, text := range []string{`""`, `"NaN"`, `"Inf"`, "1e999", `"0x10"`, `"1_000"`, `"1,000"`, `"1 000"`, `"$5"`,
		"true", "null", "[1]", `{"n":1}`, "", `"١٢"`} {
		if got, err := parseNumber(json.RawMessage(text), 0); err == nil {
			t.Errorf("%s is %g", text, got)
		}
	}
}

var testNow = time.Date(2031, 6, 1, 12, 0, 0, 0, time.UTC)

func TestMoment(t *testing.T) {
	const at = "2031-06-01T11:00:00Z"
	tests := map[string]string{
		"1938078000": at, "1938078000.75": at, "1938078000000": at, "1938078000000000": at, "1938078000000000000": at,
		`"1938078000"`:           at,
		`"2031-06-01T11:00:00Z"`: at, `"2031-06-01T11:00:00.123Z"`: at, `"2031-06-01T13:00:00+02:00"`: at,
		`"2031-06-01 11:00:00"`: at, `"2031-06-01T11:00:00"`: at,
		`"2031-06-01 11:00:00 UTC"`: at, `"Sun, 01 Jun 2031 11:00:00 GMT"`: at, `"2031-06-01"`: "2031-06-01T00:00:00Z",
		"0": "", "-5": "", "20310601": "", "1e300": "", `"soon"`: "", `""`: "", "null": "", "true": "",
		`"2031-06-03"`: "", `"1970-01-01T00:00:00Z"`: "", "[]": "",
	}
	for text, want := range tests {
		if got := parseTime(json.RawMessage(text), testNow); got != want {
			t.Errorf("%s is %q, want %q", text, got, want)
		}
	}
}

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
		n, err := amount(json.RawMessage(text), by, maxUSD)
		if err == nil && n != nil && (math.IsNaN(*n) || *n < 0 || *n > maxUSD || math.Signbit(*n)) {
			t.Errorf("%q is %g", text, *n)
		}
		if at := parseTime(json.RawMessage(text), testNow); at != "" {
			parsed, err := time.Parse(time.RFC3339, at)
			if err != nil || parsed.Before(firstTime) || parsed.After(testNow.Add(maxAhead)) {
				t.Errorf("%q is %q", text, at)
			}
		}
	})
}
