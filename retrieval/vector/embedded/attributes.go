package embedded

import (
	"math"
	"slices"
	"strings"
	"time"

	"almanac/retrieval/passage"
)

// attributes are the words of a record that filters match. There are few
// distinct ones, so a record has an index into a table of them, and a filter is
// evaluated once for each row of the table.
type attributes struct {
	Kind, Source, Container, State string
}

// matcher is a filter prepared for the entries of a view.
type matcher struct {
	accepted     []bool // by index of the attributes
	since, until int64  // microseconds, from and before
}

var noDate = time.Time{}.UnixMicro()

// newMatcher evaluates the words of a filter. A record without a date matches neither bound.
func newMatcher(table []attributes, f passage.Filter) matcher {
	m := matcher{accepted: make([]bool, len(table)), since: math.MinInt64, until: math.MaxInt64}
	for i, a := range table {
		m.accepted[i] = oneOf(f.Kinds, a.Kind) && oneOf(f.Sources, a.Source) &&
			oneOf(f.Containers, a.Container) && oneOf(f.States, a.State)
	}
	if !f.Since.IsZero() {
		m.since = max(ceilMicro(f.Since), noDate+1)
	}
	if !f.Until.IsZero() {
		m.since, m.until = max(m.since, noDate+1), ceilMicro(f.Until)
	}
	return m
}

func (m matcher) matches(e entry) bool {
	return m.accepted[e.attributes] && m.since <= e.date && e.date < m.until
}

func oneOf(wanted []string, value string) bool {
	return len(wanted) == 0 || slices.ContainsFunc(wanted, func(w string) bool { return strings.EqualFold(w, value) })
}

// ceilMicro returns the first whole microsecond that is not before t: dates are
// stored in whole microseconds.
func ceilMicro(t time.Time) int64 {
	us := t.UnixMicro()
	if t.Nanosecond()%1000 != 0 {
		us++
	}
	return us
}
