package kb

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
