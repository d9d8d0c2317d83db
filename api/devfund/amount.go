package devfund

import (
	"cmp"
	"regexp"
	"strconv"
	"strings"
)

// amount is a sum in a unit.
type amount struct {
	Value float64
	Unit  string // USD, a symbol such as TLY, or a name
}

var (
	// amountForm is a sum at the start of a statement: a currency sign, the
	// number, its multiplier, the unit as symbol or name, the symbol of a name,
	// and the rest.
	amountForm = regexp.MustCompile(`^(US\$|[$€£])?\s?(\d[\d.,]{0,20}\d|\d)\s?(k|K|m|M|million)?\b\s*\$?` +
		`(?:([A-Z]{2,6})\b|([A-Z][a-z]+(?: [A-Z][a-z]+){0,2}))?(?:\s*\(\$?([A-Z]{2,6})\))?((?s).*)$`)
	// furtherAmount is a second sum; with it, the first need not be the total.
	furtherAmount = regexp.MustCompile(`[$€£]\s?\d|\d[\d.,]*\s?(?:[kKmM]|million)?\s?\$?` +
		`(?:[A-Z]{2,6}\b|[A-Z][a-z]+ [Cc]oins?\b)`)
	// uncertain are words of a sum that is not the whole, or not settled.
	uncertain = regexp.MustCompile(`(?i)\b(?:per|each|every|monthly|yearly|annual(?:ly)?|recurring|plus|up to|` +
		`guaranteed|variable|optional|tb[ad]|to be (?:confirmed|determined)|proposed figure)\b|[+=]|` +
		`/\s?(?:mo|yr|week|year)`)
	// aside is text that says nothing about the sum: parentheses, and when it is paid.
	aside = regexp.MustCompile(`\([^()]*(?:\)|$)|\b(?:on|upon|after|at) (?:the )?acceptance of each\b`)

	plainNumber   = regexp.MustCompile(`^\d{1,15}$`)
	groupedNumber = regexp.MustCompile(`^\d{1,3}(?:,\d{3}){1,4}(?:\.\d+)?$`)
	dottedNumber  = regexp.MustCompile(`^\d{1,3}(?:\.\d{3}){2,4}$`)
	shortDecimal  = regexp.MustCompile(`^\d{1,12}\.\d{1,2}$`)
	anyDecimal    = regexp.MustCompile(`^\d{1,12}\.\d{1,6}$`) // only before a multiplier
)

var currencySigns = map[string]string{"US$": "USD", "$": "USD", "€": "EUR", "£": "GBP"}

func (a amount) String() string { return strconv.FormatFloat(a.Value, 'f', -1, 64) + " " + a.Unit }

// parseAmounts reads statements of sums, such as "25,000 TLY", "$340,000" or
// "1.7m Harbour Coin (HC)". Its answers are in the order of the statements, with
// the value 0 for one that does not state a single settled sum: a range, an
// upper bound, a sum per month, a sum with a bonus, a number whose separators
// can be read in two ways. A unit that any statement gives by name and symbol is
// the symbol in all of them.
func parseAmounts(statements []string) []amount {
	symbols := map[string]string{} // of units, by their names
	for _, s := range statements {
		if a, symbol := parseAmount(s); symbol != "" {
			symbols[a.Unit] = symbol
		}
	}
	out := make([]amount, len(statements))
	for i, s := range statements {
		a, symbol := parseAmount(s)
		a.Unit = cmp.Or(symbol, symbols[a.Unit], a.Unit)
		out[i] = a
	}
	return out
}

// parseAmount also returns the symbol of a unit that it gives by name.
func parseAmount(s string) (a amount, symbol string) {
	m := amountForm.FindStringSubmatch(strings.TrimSpace(s))
	if m == nil {
		return a, ""
	}
	rest := aside.ReplaceAllString(m[7], "")
	if furtherAmount.MatchString(rest) || uncertain.MatchString(rest) {
		return a, ""
	}
	value, ok := number(m[2], m[3])
	a.Unit = currencySigns[m[1]]
	switch {
	case m[4] != "":
		a.Unit = m[4]
	case m[5] != "" && m[1] == "":
		a.Unit, symbol = strings.TrimSuffix(m[5], "s"), m[6]
	}
	if !ok || a.Unit == "" {
		return amount{}, ""
	}
	a.Value = value
	return a, symbol
}

// number reads digits with separators. One separator before three digits is
// ambiguous if it is a point: 10.000.
func number(digits, multiplier string) (float64, bool) {
	switch {
	case plainNumber.MatchString(digits), shortDecimal.MatchString(digits),
		multiplier != "" && anyDecimal.MatchString(digits):
	case groupedNumber.MatchString(digits):
		digits = strings.ReplaceAll(digits, ",", "")
	case dottedNumber.MatchString(digits):
		digits = strings.ReplaceAll(digits, ".", "")
	default:
		return 0, false
	}
	v, err := strconv.ParseFloat(digits, 64)
	switch strings.ToLower(multiplier) {
	case "k":
		v *= 1e3
	case "m", "million":
		v *= 1e6
	}
	return v, err == nil && v > 0
}
