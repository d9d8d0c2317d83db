package market

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"

	"almanac/text/table"
)

// Limits of figures. Anything beyond is an error of the source: a wrong unit,
// or the price of something that is not traded.
const (
	maxPrice  = 1e12 // USD
	maxUSD    = 1e16 // of a market, a pool, a chain
	maxSupply = 1e30 // units
	maxChange = 1e7  // percent
	maxAPY    = 1e5  // fraction
)

var (
	errNoNumber = errors.New("is not a number")
	errNegative = errors.New("is negative")
	errAbsurd   = errors.New("is beyond any plausible value")
)

// divisor is a power of ten that a figure is divided by; 0 is none.
type divisor float64

// UnmarshalText refuses other numbers.
func (d *divisor) UnmarshalText(text []byte) error {
	n, err := strconv.ParseFloat(string(text), 64)
	*d = divisor(n)
	if err != nil || !(n >= 1 && n <= maxSupply) || divisor(math.Pow10(d.places())) != *d { // NaN is refused
		return fmt.Errorf("%q: want a power of ten such as 100", text)
	}
	return nil
}

// places returns how far the division moves the decimal point.
func (d divisor) places() int {
	if d == 0 {
		return 0
	}
	return int(math.Round(math.Log10(float64(d))))
}

// amount reads a figure between least and most; nil if there is none.
func amount(data json.RawMessage, divide divisor, least, most float64) (*float64, error) {
	if table.Missing(data) {
		return nil, nil
	}
	n, err := table.Number(data, divide.places())
	if err != nil {
		return nil, err
	}
	return plausible(n, least, most)
}

// plausible returns a figure unless it is beyond any.
func plausible(n, least, most float64) (*float64, error) {
	switch {
	case math.IsNaN(n):
		return nil, errNoNumber
	case n < 0 && least == 0:
		return nil, fmt.Errorf("%g %w", n, errNegative)
	case n < least || n > most:
		return nil, fmt.Errorf("%g %w", n, errAbsurd)
	}
	n += 0 // -0 is 0
	return &n, nil
}

var firstTime = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// maxAhead is how far the clock of a source may be ahead.
const maxAhead = 24 * time.Hour

// parseTime parses a time: a text, or a number of seconds, milliseconds,
// microseconds or nanoseconds since 1970, whichever is plausible. It returns
// RFC 3339 in UTC, to the second; "" if it is not a plausible time.
func parseTime(s string, now time.Time) string {
	at, _ := table.Time(s)
	if at.Before(firstTime) || at.After(now.Add(maxAhead)) {
		return ""
	}
	return at.Format(time.RFC3339)
}
