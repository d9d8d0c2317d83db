package catalog

import "time"

// DerivedSource is the source of records derived from other records. No
// connector fills it.
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
	New    int     // posts, messages or comments in the window
	Fresh  bool    // the record itself was created in the window
}

// Severities of a drift finding.
const (
	DriftInfo  = "info"  // slightly off
	DriftWarn  = "warn"  // contradicts the live value
	DriftStale = "stale" // contradicts it, and was stated long ago
)

// Drift is the result of comparing stated facts with live values.
type Drift struct {
	CheckedAt time.Time
	Facts     int // all stated facts, including Unruled
	Unruled   int // facts without a rule
	Rules     []DriftRule
	Findings  []DriftFinding // worst first
}

// DriftRule counts the results of one rule. Facts that are not drifted, missing
// or unreadable agree with the live value.
type DriftRule struct {
	Category   string `json:"category"`
	Key        string `json:"key" doc:"*: the fact's key names its subject"`
	Facts      int    `json:"facts"`
	Drifted    int    `json:"drifted"`
	Missing    int    `json:"missing" doc:"without a live value"`
	Unreadable int    `json:"unreadable" doc:"stated values that cannot be compared"`
}

// DriftFinding is a fact that differs from its live value.
type DriftFinding struct {
	Category string
	Key      string
	Stated   string // by the knowledge base
	Live     string
	AgeDays  *int // of the statement; nil if unknown
	Severity string
	Record   Record // the record that states the fact
}
