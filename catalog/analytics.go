package catalog

import "time"

// CountDays is the number of days that counts are kept.
const CountDays = 91

// SearchCount is how often a query was searched: when counting, on the day of
// LastAt (default today); when reading, over the days of a SearchQuery. The
// caller normalises queries.
type SearchCount struct {
	Query  string
	N      int
	Zero   int // searches of these that found nothing
	LastAt time.Time
}

// SearchQuery selects counted searches.
type SearchQuery struct {
	Since    time.Time // rounded down to its UTC day; zero: all
	ZeroOnly bool      // only queries without results, most often first
	Limit    int       // 0 = all
}

// Violation is how often a directive of the content security policy blocked an
// address; days work as for SearchCount.
type Violation struct {
	Directive string
	Blocked   string // address
	N         int
	LastAt    time.Time
}

// DirectiveCount is how often a directive was violated.
type DirectiveCount struct {
	Directive string
	N         int // including what Top omits
	LastAt    time.Time
	Top       []Violation // most first
}

// Day is the beginning of a time's UTC day.
func Day(t time.Time) time.Time { return t.UTC().Truncate(24 * time.Hour) }
