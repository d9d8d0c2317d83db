package ranking

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"almanac/retrieval/analysis"
	"almanac/retrieval/query"
)

// Pin fixes the places of records in the results of one query, whatever their
// scores: for queries whose best result the operator knows. It applies to every
// spelling of the query that has the same words in the same order, if the
// request's filter admits the record.
type Pin struct {
	Query  string  `yaml:"query"`
	From   Day     `yaml:"from,omitempty"`  // first day in UTC; zero: unbounded
	Until  Day     `yaml:"until,omitempty"` // last day
	Places []Place `yaml:"places"`
	Note   string  `yaml:"note,omitempty"`
}

// Place is the fixed place of a record.
type Place struct {
	Record   string `yaml:"record"`   // kind:key
	ID       int64  `yaml:"-"`        // of the record
	Position int    `yaml:"position"` // from 1; 0: buried, after everything else that was found
}

// String describes the place in explanations.
func (p Place) String() string {
	if p.Position == 0 {
		return "buried"
	}
	return fmt.Sprintf("pinned to %d", p.Position)
}

// MaxPosition is the greatest place that a pin can fix.
const MaxPosition = 1000

// compilePins checks pins. A pin that could never apply is an error.
func compilePins(all []Pin) (map[string][]Pin, error) {
	out := map[string][]Pin{}
	for _, p := range all {
		q, err := query.Parse(p.Query)
		if err != nil {
			return nil, fmt.Errorf("retrieval: pin of %q: %w", p.Query, err)
		}
		key, ok := pinKey(q)
		switch {
		case !ok:
			return nil, fmt.Errorf("retrieval: pin of %q: a pinned query cannot have operators, phrases or exclusions",
				p.Query)
		case !p.From.IsZero() && !p.Until.IsZero() && p.Until.Before(p.From.Time):
			return nil, fmt.Errorf("retrieval: pin of %q: it ends before it begins", p.Query)
		}
		for i, x := range p.Places {
			if x.Position < 0 || x.Position > MaxPosition {
				return nil, fmt.Errorf("retrieval: pin of %q: position %d of record %d is not between 0 and %d",
					p.Query, x.Position, x.ID, MaxPosition)
			}
			if slices.ContainsFunc(p.Places[:i], func(o Place) bool {
				return o.ID == x.ID || x.Position > 0 && o.Position == x.Position
			}) {
				return nil, fmt.Errorf("retrieval: pin of %q: record %d or its position is given twice", p.Query,
					x.ID)
			}
		}
		p.Places = slices.SortedFunc(slices.Values(p.Places), func(a, b Place) int { return a.Position - b.Position })
		out[key] = append(out[key], p)
	}
	return out, nil
}

// pinKey returns the key of a query's pins: its words. To a query with
// operators, phrases or exclusions, which says exactly what to find, no pin
// applies.
func pinKey(q query.Query) (key string, ok bool) {
	var words []string
	for _, t := range analysis.Analyze(q.Text) {
		words = append(words, t.Word(q.Text))
	}
	return strings.Join(words, " "), len(q.Phrases)+len(q.Exclude)+len(q.Kinds)+len(q.Sources) == 0
}

// Places returns the places that the first pin of a query fixes that is in force.
func (s *Set) Places(q query.Query, now time.Time) []Place {
	if len(s.pins) == 0 {
		return nil
	}
	key, ok := pinKey(q)
	if !ok {
		return nil
	}
	today := now.UTC().Format(time.DateOnly)
	for _, pin := range s.pins[key] {
		begun := pin.From.IsZero() || pin.From.UTC().Format(time.DateOnly) <= today
		if begun && (pin.Until.IsZero() || today <= pin.Until.UTC().Format(time.DateOnly)) {
			return pin.Places
		}
	}
	return nil
}
