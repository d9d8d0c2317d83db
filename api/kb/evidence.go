package kb

import (
	"almanac/catalog"
)

// Evidence is a record that supports the answer of a heuristic.
type Evidence struct {
	Item
	Why     string  `json:"why" doc:"what it says for the answer"`
	Snippet string  `json:"snippet,omitempty"`
	Weight  float64 `json:"weight" doc:"its share in the answer, 0 to 1"`
}

// Grounds is the part of a heuristic's answer that makes it verifiable.
type Grounds struct {
	Evidence []Evidence `json:"evidence" doc:"the records it rests on, heaviest first"`
	Method   string     `json:"method" doc:"how it was computed, in one sentence"`
}

// Evidence makes evidence of a search result, weighed by its score.
func (b Base) Evidence(m Match, why string) Evidence {
	w := m.Why()
	return Evidence{b.Item(m.Record), why, w.Snippet, w.Score}
}

// Weigh turns the scores of evidence into shares that add up to 1.
func Weigh(evidence []Evidence) {
	sum := 0.0
	for _, e := range evidence {
		sum += e.Weight
	}
	for i := range evidence {
		if sum > 0 {
			evidence[i].Weight = Score(evidence[i].Weight / sum)
		}
	}
}

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
