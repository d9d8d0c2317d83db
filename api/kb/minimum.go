package kb

import (
	"time"

	"almanac/catalog/derive"
)

// Minimum is a version that nodes must have, in an answer.
type Minimum struct {
	Version string     `json:"version"`
	From    *time.Time `json:"from" doc:"when it came or comes into force; null: not known"`
	ID      string     `json:"id,omitempty" doc:"of the calendar's entry; without one the ledger says so"`
}

// Minimum makes the answer's form of a minimum version; nil for none.
func (b Base) Minimum(m *derive.Minimum) *Minimum {
	if m == nil {
		return nil
	}
	out := &Minimum{Version: m.Version, From: Time(m.From)}
	if m.Operation != nil {
		out.ID = b.ID(*m.Operation)
	}
	return out
}
