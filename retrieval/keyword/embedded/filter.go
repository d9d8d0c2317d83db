package embedded

import (
	"math"
	"slices"
	"strings"
	"time"

	"almanac/retrieval/keyword"
	"almanac/retrieval/passage"
)

// filtered returns the live documents of the unit that pass the filter; nil
// means all. The caller may change the set only if own is true.
func (p *part) filtered(unit keyword.Unit, f *passage.Filter) (set bitset, own bool) {
	if f.Empty() {
		return p.live[unit], false
	}
	s := p.seg
	set = newBitset(s.units[unit].docs())
	match := s.matcher(f)
	accept := func(r int) {
		if !match(r) {
			return
		}
		if unit == keyword.Documents {
			set.set(r)
		} else {
			set.setRange(int(s.first[r]), int(s.first[r+1]))
		}
	}
	if len(f.Records) > 0 {
		for _, id := range f.Records {
			if r, ok := s.find(id); ok {
				accept(r)
			}
		}
	} else {
		for r := range s.ids {
			accept(r)
		}
	}
	if p.live[unit] != nil {
		set.and(p.live[unit])
	}
	return set, true
}

// matcher returns the test of a record's attributes. A record without a date matches neither bound.
func (s *segment) matcher(f *passage.Filter) func(record int) bool {
	type test struct {
		of     []uint32
		accept []bool // by value
	}
	var tests []test
	for i, wanted := range [numAttributes][]string{attrKind: f.Kinds, attrSource: f.Sources,
		attrContainer: f.Containers, attrState: f.States} {
		if len(wanted) == 0 {
			continue
		}
		c := &s.attrs[i]
		accept := make([]bool, len(c.values))
		for v, value := range c.values {
			accept[v] = slices.ContainsFunc(wanted, func(w string) bool { return strings.EqualFold(w, value) })
		}
		tests = append(tests, test{c.of, accept})
	}
	since, until := int64(math.MinInt64), int64(math.MaxInt64)
	if !f.Since.IsZero() {
		since = max(ceilMicro(f.Since), noDate+1)
	}
	if !f.Until.IsZero() {
		since, until = max(since, noDate+1), ceilMicro(f.Until)
	}
	return func(r int) bool {
		if d := s.dates[r]; d < since || d >= until && until != math.MaxInt64 {
			return false
		}
		for _, t := range tests {
			if !t.accept[t.of[r]] {
				return false
			}
		}
		return true
	}
}

// ceilMicro returns the first whole microsecond that is not before t; dates are
// stored in whole microseconds.
func ceilMicro(t time.Time) int64 {
	us := t.UnixMicro()
	if t.Nanosecond()%1000 != 0 {
		us++
	}
	return us
}
