package embedded

import (
	"almanac/retrieval/bitset"
	"almanac/retrieval/keyword"
	"almanac/retrieval/passage"
)

// filtered returns the live documents of the unit that pass the filter, in a set that the caller
// must not change; nil means all.
func (r *segmentReader) filtered(unit keyword.Unit, f *passage.Filter) bitset.Set {
	if f.Empty() {
		return r.live[unit]
	}
	s := r.seg
	set := bitset.New(s.units[unit].docs())
	m := f.Compile(s.attrs.table)
	accept := func(record int) {
		if !m.Match(s.attrs.of[record], s.dates[record]) {
			return
		}
		if unit == keyword.Documents {
			set.Set(record)
		} else {
			set.SetRange(int(s.first[record]), int(s.first[record+1]))
		}
	}
	if len(f.Records) > 0 {
		for _, id := range f.Records {
			if record, ok := s.find(id); ok {
				accept(record)
			}
		}
	} else {
		for record := range s.ids {
			accept(record)
		}
	}
	if r.live[unit] != nil {
		set.And(r.live[unit])
	}
	return set
}
