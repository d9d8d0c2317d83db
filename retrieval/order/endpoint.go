package order

import (
	"cmp"
	"slices"

	"almanac/catalog"
	"almanac/retrieval/plan"
)

func namesEndpoint(p *plan.Plan) bool {
	_, ok := p.Endpoint()
	return ok
}

// endpointFirst puts the endpoints that the query names before everything else.
func endpointFirst(r *run, list []*Candidate) []*Candidate {
	asked, _ := r.Plan.Endpoint()
	scores := make([]float64, len(list))
	how := map[*Candidate]int{}
	for i, c := range list {
		scores[i], how[c] = c.Shown, plan.NotNamed
		if c.Document.Attributes.Kind != string(catalog.KindEndpoint) {
			continue
		}
		if described, ok := plan.ReadEndpoint(c.Document.Title); ok {
			how[c] = asked.Names(described)
		}
	}
	slices.SortStableFunc(list, func(a, b *Candidate) int { return cmp.Compare(how[a], how[b]) })
	for i, c := range list {
		c.Shown = scores[i]
	}
	return list
}
