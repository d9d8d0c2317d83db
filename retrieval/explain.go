package retrieval

import (
	"fmt"
	"slices"

	"almanac/retrieval/keyword"
	"almanac/retrieval/ranking"
	"almanac/retrieval/trace"
)

// Explanation is where a result's score comes from.
type Explanation struct {
	// Score is the score shown. Its parts are what each stage added.
	Score trace.Node `json:"score"`
	// Fusion is the reciprocal-rank score that made the record a candidate; its
	// parts are the lists that have it.
	Fusion trace.Node `json:"fusion"`
}

// explain returns the explanation of a candidate.
func explain(f *gathering, c *candidate) *Explanation {
	x := &Explanation{Score: trace.Node{Name: "score", Value: c.Shown},
		Fusion: trace.Node{Name: "fusion", Value: c.Score}}
	before := 0.0
	for _, step := range c.Steps {
		stage := stages[slices.IndexFunc(stages, func(s stage) bool { return s.Name == step.Stage })]
		n := trace.Node{Name: stage.Name, Value: step.Score - before, Formula: stage.Why}
		if before = step.Score; stage.node != nil {
			n = stage.node(f.Plan, c, n)
		}
		x.Score.Parts = append(x.Score.Parts, n)
	}
	for i, rank := range c.Ranks {
		if rank == 0 {
			continue
		}
		l, k := f.Lists[i], f.Plan.Profile.RankK
		n := trace.Node{Name: l.Retriever, Value: l.Weight / (k + float64(rank)),
			Formula: fmt.Sprintf("%g / (%g + rank %d)", l.Weight, k, rank)}
		if at := slices.IndexFunc(l.Hits, func(h keyword.Hit) bool { return h.Record == c.Record }); at >= 0 {
			n.Formula += fmt.Sprintf(", %.4g there", l.Hits[at].Score)
		}
		x.Fusion.Parts = append(x.Fusion.Parts, n)
	}
	return x
}

// pinNode explains where a pin has put the candidate.
func pinNode(_ *plan, c *candidate, n trace.Node) trace.Node {
	n.Formula = c.Pin.String() + ": " + n.Formula
	return n
}

// modelNode explains the score of the linear model.
func modelNode(p *plan, c *candidate, _ trace.Node) trace.Node {
	model := p.Model
	sum := trace.Node{Name: "linear model", Value: c.Linear}
	for f := range ranking.Feature(ranking.NumFeatures) {
		n := trace.Node{Name: f.String(), Value: model.Weights[f]*c.Z[f] + model.Fixed[f]*c.Scored.Features[f]}
		switch {
		case model.Weights[f] == 0 && model.Fixed[f] == 0:
			continue
		case model.Fixed[f] != 0:
			n.Formula = fmt.Sprintf("%g × %.4g", model.Fixed[f], c.Scored.Features[f])
		default:
			n.Formula = fmt.Sprintf("%g × z %.3f of %.4g", model.Weights[f], c.Z[f], c.Scored.Features[f])
		}
		sum.Parts = append(sum.Parts, n)
	}
	return trace.Node{Name: "logistic", Value: logistic(c.Linear),
		Formula: fmt.Sprintf("1 / (1 + e^(−x/%d))", steepness), Parts: []trace.Node{sum}}
}
