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
