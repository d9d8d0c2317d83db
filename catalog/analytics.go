package catalog

import "time"

// CountDays is the number of days that counts are kept.
const CountDays = 91

// SearchCount is how often a query was searched: when counting, on the day of
// LastAt (default today); when reading, over the days of a SearchQuery. The
// caller normalises queries.
type SearchCount struct {
	Query     string
	N         int
	Zero      int           // searches of these that found nothing
	Corrected int           // that were read as something else
	Degraded  int           // that an engine took no part in
	Took      time.Duration // of all together
	Longest   time.Duration // of one
	LastAt    time.Time
}

// SearchOrder is which searches a list begins with; it has only queries with such
// searches.
type SearchOrder string

// The orders of searches.
const (
	MostSearched  SearchOrder = ""
	MostZero      SearchOrder = "zero"
	MostCorrected SearchOrder = "corrected"
	MostDegraded  SearchOrder = "degraded"
	Slowest       SearchOrder = "slow"
)

// SearchQuery selects counted searches.
type SearchQuery struct {
	Since time.Time // rounded down to its UTC day; zero: all
	Order SearchOrder
	Limit int // 0 = all
}

// ClickCount is how often a record was shown at a place in the results of a query,
// and chosen there; days work as for SearchCount.
type ClickCount struct {
	Query    string
	Record   int64
	Position int // from 1
	Shown    int
	Clicked  int
	LastAt   time.Time // of counting; its day
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
