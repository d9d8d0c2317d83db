package ranking

import (
	"fmt"
	"slices"
)

// Only returns a profile with the lists of one engine of another, in the order of
// their fusion.
func (p Profile) Only(engine string) (Profile, error) {
	q := p
	q.Name, q.Order, q.Description = engine, Fusion, "The "+engine+" lists of "+p.Name+" alone."
	q.Weights, q.Fixed, q.Unweighted = nil, nil, nil
	q.Lists = slices.DeleteFunc(slices.Clone(p.Lists), func(l List) bool { return EngineOf[l.Retriever] != engine })
	for i := range q.Lists {
		q.Lists[i].Unless = ""
	}
	if len(q.Lists) == 0 {
		return q, fmt.Errorf("profile %s has no %s lists", p.Name, engine)
	}
	return q, nil
}
