package derive

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"almanac/catalog"
)

// Statement is a claim that a record of a source makes.
type Statement struct {
	Claim
	Source string
	Record catalog.Record
	Date   time.Time // zero if unknown: older than any other
}

// Contradiction is a subject of which the latest statements of two sources
// differ.
type Contradiction struct {
	Aspect  string
	Subject string
	Sides   []Side // one for each source, by name
}

// Side is what a source says of a subject: its latest statement.
type Side struct {
	Statement
	Records int // of the source that state the same value
}

// Contradictions compares the latest statements of the sources on each subject
// and returns the contradictions, the newest first, and the number of subjects
// of which at least two sources say the same. A source whose latest record
// states two values of a subject is left out there.
func Contradictions(statements []Statement) (found []Contradiction, agreed int) {
	type subject struct{ aspect, name string }
	bySubject := map[subject]map[string][]Statement{}
	for _, s := range statements {
		key := subject{s.Aspect, s.Subject}
		if bySubject[key] == nil {
			bySubject[key] = map[string][]Statement{}
		}
		bySubject[key][s.Source] = append(bySubject[key][s.Source], s)
	}
	for key, bySource := range bySubject {
		c := Contradiction{Aspect: key.aspect, Subject: key.name}
		values := map[string]bool{}
		for _, source := range slices.Sorted(maps.Keys(bySource)) {
			if side, ok := sideOf(bySource[source]); ok {
				c.Sides = append(c.Sides, side)
				values[side.same] = true
			}
		}
		switch {
		case len(values) > 1:
			found = append(found, c)
		case len(c.Sides) > 1:
			agreed++
		}
	}
	slices.SortFunc(found, func(a, b Contradiction) int {
		return cmp.Or(newest(b.Sides).Compare(newest(a.Sides)), cmp.Compare(a.Aspect, b.Aspect),
			cmp.Compare(a.Subject, b.Subject))
	})
	return found, agreed
}

// sideOf returns a source's latest statement; false if its record states
// another value as well.
func sideOf(all []Statement) (Side, bool) {
	side := Side{Statement: slices.MaxFunc(all, func(a, b Statement) int {
		return cmp.Or(a.Date.Compare(b.Date), cmp.Compare(b.Record.ID, a.Record.ID))
	})}
	records := map[int64]bool{}
	for _, s := range all {
		if s.same == side.same {
			records[s.Record.ID] = true
		} else if s.Record.ID == side.Record.ID {
			return side, false
		}
	}
	side.Records = len(records)
	return side, true
}

func newest(sides []Side) time.Time {
	var t time.Time
	for _, s := range sides {
		if s.Date.After(t) {
			t = s.Date
		}
	}
	return t
}
