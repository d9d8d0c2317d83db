package catalog

import "time"

// DerivedSource names the source that owns what follows from other records.
// No connector fills it.
const DerivedSource = "derived"

// Levels of a radar item, most urgent first.
const (
	RadarCritical  = "critical"
	RadarImportant = "important"
	RadarEcosystem = "ecosystem"
)

// Trend is how much activity there is around a record.
type Trend struct {
	Record Record  // its body may be empty
	Score  float64 // comparable across kinds; above 0
	New    int     // posts, messages or comments within the window
	Fresh  bool    // it was itself created within the window
}

// Severities of a drift finding.
const (
	DriftInfo  = "info"  // slightly off
	DriftWarn  = "warn"  // contradicts the live value
	DriftStale = "stale" // contradicts it, and was stated long ago
)

// Drift is what comparing stated facts with live values found.
type Drift struct {
	CheckedAt time.Time
	Facts     int // stated, with those that no rule is for
	Unruled   int // facts that no rule is for
	Rules     []DriftRule
	Findings  []DriftFinding // worst first
}

// DriftRule is how the facts of one rule fared. Those that are in none of
// the last three agree with the live value.
type DriftRule struct {
	Category   string
	Key        string // "*": names what the fact is about
	Facts      int
	Drifted    int
	Missing    int // there is no live value
	Unreadable int // the stated value cannot be compared
}

// DriftFinding is a fact that is not what is live.
type DriftFinding struct {
	Category string
	Key      string
	Stated   string // by the knowledge base
	Live     string
	AgeDays  *int // of the statement; nil unknown
	Severity string
	Record   Record // that states it
}
