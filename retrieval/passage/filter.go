package passage

import (
	"math"
	"slices"
	"strings"
	"time"
	"unicode"
)

// Words are the attributes that filters compare as words. Records have few
// distinct ones, so an engine stores a table of them and an index for each
// record.
type Words struct{ Kind, Source, Container, State string }

// Words returns the attributes that are words.
func (a Attributes) Words() Words { return Words{a.Kind, a.Source, a.Container, a.State} }

// NoDate is the date of a record without one, as UnixMicro gives it.
const NoDate = math.MinInt64

// UnixMicro returns the record's date in microseconds, or NoDate.
func (a Attributes) UnixMicro() int64 {
	if a.Date.IsZero() {
		return NoDate
	}
	return a.Date.UnixMicro()
}

// Matcher is a filter compiled for a table of words.
type Matcher struct {
	accepted     []bool // by index in the table
	since, until int64  // microseconds, from and before
}

// Compile evaluates the filter's words once for each of a table. Records is
// left to the caller, who can look them up.
func (f Filter) Compile(table []Words) Matcher {
	m := Matcher{accepted: make([]bool, len(table))}
	for i, w := range table {
		m.accepted[i] = f.accepts(w)
	}
	m.since, m.until = f.days()
	return m
}

// Admits reports whether a record with these attributes passes.
func (f Filter) Admits(record int64, a Attributes) bool {
	since, until := f.days()
	date := a.UnixMicro()
	return f.accepts(a.Words()) && since <= date && date < until &&
		(len(f.Records) == 0 || slices.Contains(f.Records, record))
}

func (f Filter) accepts(w Words) bool {
	return oneOf(f.Kinds, w.Kind) && oneOf(f.Sources, w.Source) && oneOf(f.Containers, w.Container) &&
		oneOf(f.States, w.State)
}

// days returns the first date that passes and the first one after it that does
// not, as UnixMicro gives them.
func (f Filter) days() (since, until int64) {
	since, until = math.MinInt64, math.MaxInt64
	if !f.Since.IsZero() {
		since = max(CeilMicro(f.Since), NoDate+1)
	}
	if !f.Until.IsZero() {
		since, until = max(since, NoDate+1), CeilMicro(f.Until)
	}
	return since, until
}

// Match reports whether a record with these words, by index, and this date, of
// UnixMicro, passes. One without a date is on neither side of a bound.
func (m *Matcher) Match(words uint32, date int64) bool {
	return m.accepted[words] && m.since <= date && date < m.until
}

func oneOf(wanted []string, value string) bool {
	return len(wanted) == 0 || slices.ContainsFunc(wanted, func(w string) bool { return strings.EqualFold(w, value) })
}

// FoldCase gives values that are equal under strings.EqualFold, and only
// those, the same form: a server that compares bytes stores it, and is asked
// for it.
func FoldCase(value string) string {
	return strings.Map(func(r rune) rune {
		if r == 'İ' {
			return r // its lower case is i, which is not equal to it
		}
		first := r
		for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
			first = min(first, next)
		}
		return unicode.ToLower(first)
	}, value)
}

// CeilMicro returns the first whole microsecond that is not before t: dates are
// stored in whole microseconds.
func CeilMicro(t time.Time) int64 {
	us := t.UnixMicro()
	if t.Nanosecond()%1000 != 0 {
		us++
	}
	return us
}
