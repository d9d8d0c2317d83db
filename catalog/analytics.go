package catalog

import "time"

// CountDays is how many days counts are kept.
const CountDays = 91

// SearchCount is how often a query was searched: on the day of LastAt, by
// default today, when it is counted; over the days of a SearchQuery when it is
// read. Queries are as the caller normalises them.
type SearchCount struct {
	Query  string
	N      int
	Zero   int // of these, how many found nothing
	LastAt time.Time
}

// SearchQuery selects counted searches.
type SearchQuery struct {
	Since    time.Time // from the beginning of its UTC day; zero: all that is kept
	ZeroOnly bool      // only what found nothing, most such searches first
	Limit    int       // 0 = all
}

// Violation is how often a directive of the content security policy blocked an
// address; days are as for SearchCount.
type Violation struct {
	Directive string
	Blocked   string // address
	N         int
	LastAt    time.Time
}

// DirectiveCount is how often a directive was violated.
type DirectiveCount struct {
	Directive string
	N         int // also by what Top leaves out
	LastAt    time.Time
	Top       []Violation // most first
}

// Day is the beginning of a time's UTC day.
func Day(t time.Time) time.Time { return t.UTC().Truncate(24 * time.Hour) }
