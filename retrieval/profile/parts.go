package profile

import "fmt"

// KeywordOnly returns a profile with the keyword lists of another, in the order
// of their fusion.
func KeywordOnly(p Profile) (Profile, error) { return p.only("keyword", "documents", "passages") }

// VectorOnly returns a profile with the vector lists of another, in the order of
// their fusion.
func VectorOnly(p Profile) (Profile, error) { return p.only("vector", "dense", "sparse") }

func (p Profile) only(name string, retrievers ...string) (Profile, error) {
	q := p
	q.Name, q.Order, q.Lists, q.Description = name, "fusion", nil, "The "+name+" lists of "+p.Name+" alone."
	q.Weights, q.Fixed, q.Unweighted = nil, nil, nil
	for _, l := range p.Lists {
		for _, r := range retrievers {
			if l.Retriever == r {
				l.Unless = ""
				q.Lists = append(q.Lists, l)
			}
		}
	}
	if len(q.Lists) == 0 {
		return q, fmt.Errorf("profile %s has no %s lists", p.Name, name)
	}
	return q, nil
}
