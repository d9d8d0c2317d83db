package retrieval

import (
	"fmt"
	"slices"
	"strings"

	"almanac/retrieval/keyword"
	"almanac/retrieval/ranking"
)

// Explanation is where a result's score comes from.
type Explanation struct {
	// Score is the score shown. Its parts are what each stage added.
	Score Node `json:"score"`
	// Fusion is the reciprocal-rank score that made the record a candidate; its
	// parts are the lists that have it.
	Fusion Node `json:"fusion"`
}

// explain returns the explanation of a candidate.
func explain(r *run, c *candidate) *Explanation {
	x := &Explanation{Score: Node{Name: "score", Value: c.Shown},
		Fusion: Node{Name: "fusion", Value: c.Score}}
	before := 0.0
	for _, step := range c.Steps {
		stage := stages[slices.IndexFunc(stages, func(s stage) bool { return s.Name == step.Stage })]
		n := Node{Name: stage.Name, Value: step.Score - before, Formula: stage.Why}
		if before = step.Score; stage.node != nil {
			n = stage.node(r.Plan, c, n)
		}
		x.Score.Parts = append(x.Score.Parts, n)
	}
	for i, rank := range c.Ranks {
		if rank == 0 {
			continue
		}
		l, k := r.Lists[i], r.Plan.Profile.RankK
		n := Node{Name: l.Retriever, Value: l.Weight / (k + float64(rank)),
			Formula: fmt.Sprintf("%g / (%g + rank %d)", l.Weight, k, rank)}
		if at := slices.IndexFunc(l.Hits, func(h keyword.Hit) bool { return h.Record == c.Record }); at >= 0 {
			n.Formula += fmt.Sprintf(", %.4g there", l.Hits[at].Score)
		}
		x.Fusion.Parts = append(x.Fusion.Parts, n)
	}
	return x
}

// pinNode explains where a pin has put the candidate.
func pinNode(_ *plan, c *candidate, n Node) Node {
	n.Formula = c.Pin.String() + ": " + n.Formula
	return n
}

// modelNode explains the score of the linear model.
func modelNode(p *plan, c *candidate, _ Node) Node {
	model := p.Model
	sum := Node{Name: "linear model", Value: c.Linear}
	for f := range ranking.Feature(ranking.NumFeatures) {
		n := Node{Name: f.String(), Value: model.Weights[f]*c.Z[f] + model.Fixed[f]*c.Features[f]}
		switch {
		case model.Weights[f] == 0 && model.Fixed[f] == 0:
			continue
		case model.Fixed[f] != 0:
			n.Formula = fmt.Sprintf("%g × %.4g", model.Fixed[f], c.Features[f])
		default:
			n.Formula = fmt.Sprintf("%g × z %.3f of %.4g", model.Weights[f], c.Z[f], c.Features[f])
		}
		sum.Parts = append(sum.Parts, n)
	}
	return Node{Name: "logistic", Value: logistic(c.Linear),
		Formula: fmt.Sprintf("1 / (1 + e^(−x/%d))", steepness), Parts: []Node{sum}}
}

// Node is a number with what it is made of: the values of its parts add up to
// its own, unless Formula says how it follows from them.
type Node struct {
	Name    string  `json:"name"`
	Value   float64 `json:"value"`
	Formula string  `json:"formula,omitempty"`
	Parts   []Node  `json:"parts,omitempty"`
}

// Tree writes the node as a line and its parts below it, indented by so many
// spaces.
func (n Node) Tree(indent int) string {
	pad := strings.Repeat(" ", indent)
	line := fmt.Sprintf("%s%-*s %9.4f  %s", pad, max(1, 28-indent), n.Name, n.Value, n.Formula)
	lines := strings.TrimRight(line, " ") + "\n"
	for _, part := range n.Parts {
		lines += part.Tree(indent + 2)
	}
	return lines
}
