package retrieval

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
	Query       string
	Places      []Place
	From, Until time.Time // the first and the last day in UTC; zero: unbounded
}

// Place is the fixed place of a record.
type Place struct {
	Record   int64
	Position int // from 1; 0: buried, after everything else that was found
}

// String describes the place in explanations.
func (p Place) String() string {
	if p.Position == 0 {
		return "buried"
	}
	return fmt.Sprintf("pinned to %d", p.Position)
}

// pins holds the pins of each query by its words, in the order given: the first in force counts.
type pins map[string][]Pin

// compilePins checks pins. A pin that could never apply is an error.
func compilePins(all []Pin) (pins, error) {
	out := pins{}
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
		case !p.From.IsZero() && !p.Until.IsZero() && p.Until.Before(p.From):
			return nil, fmt.Errorf("retrieval: pin of %q: it ends before it begins", p.Query)
		}
		for i, x := range p.Places {
			if x.Position < 0 || x.Position > MaxResults {
				return nil, fmt.Errorf("retrieval: pin of %q: position %d of record %d is not between 0 and %d",
					p.Query,
					x.Position, x.Record, MaxResults)
			}
			if slices.ContainsFunc(p.Places[:i], func(o Place) bool {
				return o.Record == x.Record || x.Position > 0 && o.Position == x.Position
			}) {
				return nil, fmt.Errorf("retrieval: pin of %q: record %d or its position is given twice", p.Query,
					x.Record)
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

// of returns the places for a query at the given time.
func (p pins) of(q query.Query, now time.Time) []Place {
	if len(p) == 0 {
		return nil
	}
	key, ok := pinKey(q)
	if !ok {
		return nil
	}
	today := now.UTC().Format(time.DateOnly)
	for _, pin := range p[key] {
		begun := pin.From.IsZero() || pin.From.UTC().Format(time.DateOnly) <= today
		if begun && (pin.Until.IsZero() || today <= pin.Until.UTC().Format(time.DateOnly)) {
			return pin.Places
		}
	}
	return nil
}

// pin moves candidates to the places of a plan's pins. A record that no
// retriever found is added at its place.
func (s *search) pin(candidates []*candidate) []*candidate {
	places := s.plan.relevance.pins.of(s.plan.Query, s.now())
	if len(places) == 0 {
		return candidates
	}
	var buried, placed []*candidate
	for i, x := range places {
		d, indexed := s.plan.corpus.Document(x.Record)
		at := slices.IndexFunc(candidates, func(c *candidate) bool { return c.Record == x.Record })
		var c *candidate
		switch {
		case at >= 0:
			c = candidates[at]
			candidates = slices.Delete(candidates, at, at+1)
		case x.Position == 0 || !indexed || !s.plan.Filter.Admits(d.Record, d.Attributes):
			continue
		default:
			c = &candidate{document: d}
			c.Record = d.Record
			for _, other := range candidates { // it is shown as a result
				other.alsoAt = slices.DeleteFunc(other.alsoAt, func(id int64) bool { return id == d.Record })
			}
		}
		c.pin = &places[i]
		if x.Position == 0 {
			buried = append(buried, c)
		} else {
			placed = append(placed, c)
		}
	}
	for _, c := range placed { // by position
		candidates = slices.Insert(candidates, min(c.pin.Position-1, len(candidates)), c)
	}
	candidates = append(candidates, buried...)
	level(candidates)
	return candidates
}

// level gives a moved candidate the score of the next one, or of the previous
// one at the end, so that scores never increase down the list.
func level(candidates []*candidate) {
	last := 0.0
	for _, c := range slices.Backward(candidates) {
		if c.pin == nil {
			last = c.score
		} else if c.pin.Position > 0 {
			c.score = last
		} else {
			c.score = 0
		}
	}
}
