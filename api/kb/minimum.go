package kb

import "time"

// Minimum is a version that nodes must have, in an answer.
type Minimum struct {
	Version string     `json:"version"`
	From    *time.Time `json:"from" doc:"when it came or comes into force; null: not known"`
	ID      string     `json:"id,omitempty" doc:"of the calendar's entry; without one the ledger says so"`
}
