package embedded

import (
	"context"
	"fmt"

	"almanac/retrieval/keyword"
	"almanac/retrieval/passage"
)

// Facets implements keyword.Engine. Records without a value are not counted;
// an unknown attribute is an error.
func (e *Engine) Facets(ctx context.Context, q keyword.Query, f passage.Filter,
	attributes []string) (map[string]map[string]int, error) {
	s, err := e.current(ctx, &q)
	if err != nil {
		return nil, err
	}
	out := make(map[string]map[string]int, len(attributes))
	for _, a := range attributes {
		if fields(new(passage.Words))[a] == nil {
			return nil, fmt.Errorf("keyword: facets: unknown attribute %q", a)
		}
		out[a] = map[string]int{}
	}
	p := newPlan(s, &e.scoring[q.Unit], &q, &f)
	if len(p.terms) == 0 && len(p.phrases) == 0 {
		return out, nil
	}
	for at, r := range s.readers {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("keyword: facets: %w", err)
		}
		if sp := p.on(at, r); sp != nil {
			r.seg.count(sp.records(), out)
		}
	}
	return out, nil
}

// records returns the set of records that match the plan.
func (sp *segmentPlan) records() bitset {
	set := sp.allowed
	if len(sp.phrases) == 0 {
		set = newBitset(sp.postings.docs())
		for _, t := range sp.terms {
			if number := t.numbers[sp.at]; number != noTerm {
				sp.postings.each(number, set.set)
			}
		}
		if sp.allowed != nil {
			set.and(sp.allowed)
		}
	}
	records := newBitset(len(sp.seg.ids))
	for doc := range set.all {
		record := doc
		if sp.unit == keyword.Passages {
			record = int(sp.seg.recordOf[doc])
		}
		if !records.has(record) && (sp.accept == nil || sp.accept(sp.seg.ids[record])) {
			records.set(record)
		}
	}
	return records
}

// count adds the records' values to the facets.
func (s *segment) count(records bitset, facets map[string]map[string]int) {
	byWords := make([]int, len(s.attrs.table))
	for r := range records.all {
		byWords[s.attrs.of[r]]++
	}
	for i := range byWords {
		values := fields(&s.attrs.table[i])
		for name, counts := range facets {
			if v := *values[name]; byWords[i] > 0 && v != "" {
				counts[v] += byWords[i]
			}
		}
	}
}
