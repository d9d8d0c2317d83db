package kb

import "almanac/catalog"

// Scored is a record that was found for a topic, and how relevant it is, 0 to 1:
// 1 is the best.
type Scored struct {
	Record    catalog.Record
	Relevance float64
	Snippet   string // why it was found
}

// Relevant returns the hits of at least some relevance.
func Relevant(hits []Scored, least float64) (out []Scored) {
	for _, h := range hits {
		if h.Relevance >= least {
			out = append(out, h)
		}
	}
	return out
}

// Proof is a record that a derivation rests on, such as one contribution of an
// expert.
type Proof struct {
	Record  catalog.Record
	Why     string
	Snippet string
	Weight  float64 // its share in what was derived, 0 to 1
}

// Linked is a record that refers to another, with its strongest link.
type Linked struct {
	Record catalog.Record // without its body
	Link   catalog.Link
}
