package catalog

// DerivedSource is the source of records derived from other records. No
// connector fills it.
const DerivedSource = "derived"

// Levels of a radar item, most urgent first.
const (
	RadarCritical  = "critical"
	RadarImportant = "important"
	RadarEcosystem = "ecosystem"
)

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
