// Package passage cuts records into passages: the unit that engines index, with
// the ids, attributes and filters that engines and searcher share.
package passage

import "time"

// ID identifies a passage: the record's id and the passage's ordinal in it.
type ID int64

const ordinalBits = 16

// MaxPerRecord is the number of passages a record can have; longer records are cut off.
const MaxPerRecord = 1 << ordinalBits

// NewID returns the id of a record's passage.
func NewID(record int64, ordinal int) ID { return ID(record<<ordinalBits | int64(ordinal)) }

// Record returns the id of the record the passage belongs to.
func (id ID) Record() int64 { return int64(id) >> ordinalBits }

// Ordinal returns the passage's index in its record, from 0.
func (id ID) Ordinal() int { return int(id & (MaxPerRecord - 1)) }

// Attributes are the attributes of a record for filters and facets.
type Attributes struct {
	Kind      string
	Source    string
	Container string
	State     string
	Date      time.Time // last activity, else update, else creation; zero if unknown
}

// Filter narrows a search. Values of one field are alternatives, fields are
// all required, matching ignores case; zero fields match everything.
type Filter struct {
	Kinds      []string
	Sources    []string
	Containers []string
	States     []string
	Since      time.Time // Date not before
	Until      time.Time // Date before
	Records    []int64
}

// Empty reports whether the filter matches everything.
func (f Filter) Empty() bool {
	return len(f.Kinds) == 0 && len(f.Sources) == 0 && len(f.Containers) == 0 && len(f.States) == 0 &&
		f.Since.IsZero() && f.Until.IsZero() && len(f.Records) == 0
}
