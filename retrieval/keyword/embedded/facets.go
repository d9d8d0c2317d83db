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
		if _, ok := attributeIndex[a]; !ok {
			return nil, fmt.Errorf("keyword: facets: unknown attribute %q", a)
		}
		out[a] = map[string]int{}
	}
	scoring := &e.scoring[q.Unit]
	p := newPlan(s, scoring, &q, &f)
	if len(p.terms) == 0 && len(p.phrases) == 0 {
		return out, nil
	}
	for _, pt := range s.parts {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("keyword: facets: %w", err)
		}
		if pp := p.on(pt, scoring); pp != nil {
			pt.seg.count(pp.records(p), out)
		}
	}
	return out, nil
}

// records returns the set of records that match the plan.
func (pp *partPlan) records(p *plan) bitset {
	set := pp.allowed
	if len(pp.phrases) == 0 {
		set = newBitset(pp.postings.docs())
		for _, t := range p.terms {
			if r := pp.seg.terms.find(t.text, false); !r.empty() {
				pp.postings.each(r.lo, set.set)
			}
		}
		if pp.allowed != nil {
			set.and(pp.allowed)
		}
	}
	records := newBitset(len(pp.seg.ids))
	var first, second sequence
	for doc := range set.all {
		record := doc
		if pp.unit == keyword.Passages {
			record = int(pp.seg.recordOf[doc])
		}
		if !records.has(record) && pp.verify(doc, &first, &second) {
			records.set(record)
		}
	}
	return records
}

// count adds the records' values to the facets.
func (s *segment) count(records bitset, facets map[string]map[string]int) {
	for name, counts := range facets {
		c := &s.attrs[attributeIndex[name]]
		byValue := make([]int, len(c.values))
		for r := range records.all {
			byValue[c.of[r]]++
		}
		for v, n := range byValue {
			if n > 0 && c.values[v] != "" {
				counts[c.values[v]] += n
			}
		}
	}
}
