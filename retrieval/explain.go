package retrieval

import (
	"fmt"
	"slices"
	"strings"

	"almanac/retrieval/analysis"
	"almanac/retrieval/query"
	"almanac/retrieval/rerank"
)

// Explanation is where a result's score comes from.
type Explanation struct {
	// Score is the score shown. Its parts are what each stage added.
	Score Node `json:"score"`
	// Fusion is the reciprocal-rank score that made the record a candidate; its
	// parts are the lists that have it.
	Fusion Node `json:"fusion"`
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

// read returns what the query is read as, for explanations.
func (p *Plan) read() (out []ReadTerm) {
	for _, t := range p.Keyword.Terms {
		id, origin := analysis.IDOf(t.Text), Typed
		if !slices.ContainsFunc(p.Query.Terms, func(q query.Term) bool { return q.ID == id }) {
			origin = Spelling
			if slices.ContainsFunc(p.rerank.Terms, func(r rerank.Term) bool {
				return r.ID == id && r.Position == untypedPosition
			}) {
				origin = Alias
			}
		}
		out = append(out, ReadTerm{t.Text, t.Weight, origin})
	}
	for _, x := range p.Query.Phrases {
		out = append(out, ReadTerm{Text: x.Text, Origin: Phrase})
	}
	for _, x := range p.Query.Exclude {
		out = append(out, ReadTerm{Text: x.Text, Origin: Without})
	}
	return out
}

// note adds what a stage changed of the candidates' scores, if they are to be explained.
func (s *search) note(candidates []*candidate, stage, formula string) {
	if !s.request.Explain {
		return
	}
	for _, c := range candidates {
		n := Node{Name: stage, Value: c.score - c.noted, Formula: formula}
		if c.pin != nil && stage == "pin" {
			n.Formula = c.pin.String() + ": " + formula
		} else if n.Value == 0 {
			continue
		}
		c.steps, c.noted = append(c.steps, n), c.score
	}
}

// modelNode explains the score of the linear model.
func (p *Plan) modelNode(c *candidate) Node {
	model := p.model()
	sum := Node{Name: "linear model", Value: c.linear}
	for f := range rerank.Feature(rerank.NumFeatures) {
		n := Node{Name: f.String(), Value: model.Weights[f]*c.z[f] + model.Fixed[f]*c.scored.Features[f]}
		switch {
		case model.Weights[f] == 0 && model.Fixed[f] == 0:
			continue
		case model.Fixed[f] != 0:
			n.Formula = fmt.Sprintf("%g × %.4g", model.Fixed[f], c.scored.Features[f])
		default:
			n.Formula = fmt.Sprintf("%g × z %.3f of %.4g", model.Weights[f], c.z[f], c.scored.Features[f])
		}
		sum.Parts = append(sum.Parts, n)
	}
	return Node{Name: "logistic", Value: logistic(c.linear), Formula: fmt.Sprintf("1 / (1 + e^(−x/%d))", steepness),
		Parts: []Node{sum}}
}

// explain returns the explanation of a candidate.
func (s *search) explain(c *candidate) *Explanation {
	p := s.plan.Profile
	x := &Explanation{Score: Node{Name: "score", Value: c.score, Parts: c.steps},
		Fusion: Node{Name: "fusion", Value: c.Candidate.Score}}
	if p.Order == "rerank" && len(c.Ranks) > 0 {
		x.Score.Parts = append([]Node{s.plan.modelNode(c)}, c.steps...)
	}
	for i, rank := range c.Ranks {
		if rank == 0 {
			continue
		}
		l := s.lists[i]
		n := Node{Name: l.list.Retriever, Value: l.list.Weight / (p.RankK + float64(rank))}
		n.Formula = fmt.Sprintf("%g / (%g + rank %d)", l.list.Weight, p.RankK, rank)
		for _, h := range l.hits {
			if h.Record == c.Record {
				n.Formula += fmt.Sprintf(", %.4g there", h.Score)
				break
			}
		}
		x.Fusion.Parts = append(x.Fusion.Parts, n)
	}
	return x
}
