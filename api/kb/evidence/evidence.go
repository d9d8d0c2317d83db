// Package evidence names the records that an answer rests on, and how much each counts.
package evidence

import (
	"cmp"
	"slices"

	"almanac/api/kb"
	"almanac/api/kb/find"
	"almanac/catalog"
	"almanac/text/prose"
)

// Row is a record that supports the answer of a heuristic.
type Row struct {
	kb.Item
	Why     string  `json:"why" doc:"what it says for the answer"`
	Snippet string  `json:"snippet,omitempty"`
	Weight  float64 `json:"weight" doc:"its share in the answer, 0 to 1"`
}

// Grounds is the part of a heuristic's answer that makes it verifiable.
type Grounds struct {
	Evidence []Row  `json:"evidence" doc:"the records it rests on, heaviest first"`
	Method   string `json:"method" doc:"how it was computed, in one sentence"`
}

// Proof is a record that a derivation rests on, such as one contribution of an
// expert.
type Proof struct {
	Record  catalog.Record
	Why     string
	Snippet string
	Weight  float64 // its share in what was derived, 0 to 1
}

// snippet is the maximum of a snippet in evidence, in characters.
const snippet = 300

// Of makes evidence of what a derivation rests on, heaviest first.
func Of(b kb.Base, proofs []Proof) (rows []Row) {
	for _, p := range proofs {
		rows = append(rows, Row{b.Item(p.Record), p.Why, prose.First(p.Snippet, snippet), kb.Score(p.Weight)})
	}
	slices.SortStableFunc(rows, func(x, y Row) int { return cmp.Compare(y.Weight, x.Weight) })
	return rows
}

// Found makes evidence of matches, each weighed by its share of all scores.
func Found(b kb.Base, matches []find.Match, why string) (rows []Row) {
	for _, m := range matches {
		rows = append(rows, Row{b.Item(m.Record), why, m.Result.Snippet, kb.Score(m.Result.Score)})
	}
	Weigh(rows)
	return rows
}

// Weigh turns the scores of evidence into shares that add up to 1.
func Weigh(rows []Row) {
	sum := 0.0
	for _, r := range rows {
		sum += r.Weight
	}
	for i := range rows {
		if sum > 0 {
			rows[i].Weight = kb.Score(rows[i].Weight / sum)
		}
	}
}
