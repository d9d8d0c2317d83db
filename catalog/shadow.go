package catalog

import "time"

// What is kept of shadow searches.
const (
	ShadowDays = 30
	MaxShadows = 10_000 // a query, candidate and day each
)

// ShadowCount is how much a candidate profile changes the results of a query: when
// counting, on the day of LastAt; when reading, over all days. The caller
// normalises queries.
type ShadowCount struct {
	Live      string // what was in force: NAME@NUMBER, or "configured"
	Candidate string // NAME@NUMBER
	Query     string
	N         int     // searches
	Jaccard   float64 // of the first ten: the sum over searches when counting, their mean when reading
	RBO       float64 // likewise, of the lists
	Was       []int64 // records of the last search, as people got them
	Would     []int64 // and as the candidate ranks
	LastAt    time.Time
}

// ShadowTotal is the change over all queries.
type ShadowTotal struct {
	Queries int
	N       int // searches
	Same    int // queries whose lists were always the same
	Jaccard float64
	RBO     float64 // means over searches
}
