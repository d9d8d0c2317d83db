package catalog

import "time"

// CountDays is the number of days that counts are kept.
const CountDays = 91

// Bounds of what is counted on a day.
const (
	DaySearches   = 5_000  // distinct queries; others are not counted
	DayClicks     = 10_000 // places of records in the results of a query; others are not counted
	DayViolations = 100    // addresses of directives; others are counted as OtherAddress
)

// OtherAddress is what a Violation has in place of an address that is not kept.
const OtherAddress = "other"

// PublicClients is how many clients must have typed a text on one day before
// others may read it.
const PublicClients = 5

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
	// Clients is how many clients are known to have searched for it on the day;
	// when reading, on the day that had most. A caller need not count further than
	// PublicClients. Visitors are those of them that did so on a page.
	Clients, Visitors int
	// ShownDays is on how many days it had PublicClients visitors; when reading.
	ShownDays int
}

// SearchDay is how much was searched for on a day.
type SearchDay struct {
	Day  time.Time
	N    int
	Zero int // searches of these that found nothing
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
	// Public selects what anybody may read: counts of days on which PublicClients
	// searched for the query, of each day the PublicQueries that come first in the
	// order. LastAt is the day.
	Public bool
}

// PublicQueries is how many queries of a day are public at most.
const PublicQueries = 100

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
	Blocked   string // scheme and host, or a word
	N         int
	LastAt    time.Time
	Clients   int // that reported it, as in SearchCount
}

// Day is the beginning of a time's UTC day.
func Day(t time.Time) time.Time { return t.UTC().Truncate(24 * time.Hour) }
