package retrieval

import (
	"cmp"
	"slices"

	"almanac/catalog"
)

// stage is a step that a plan may have.
type stage struct {
	Name string
	Why  string // of the score that it gives, for explanations
	On   func(*plan) bool
	Run  func(*run, []*candidate) []*candidate
	// node explains the score that it gave a candidate; nil: by Why.
	node func(p *plan, c *candidate, n Node) Node
}

// stages are all stages in their order. Those of scoring, the first of them, give
// candidates their scores; the others move and join them.
var (
	stages = []stage{
		{Name: "fusion", On: isFused, Run: asFused},
		{Name: "rerank", On: (*plan).Reranks, Run: score, node: modelNode},
		{Name: "floor", On: (*plan).Reranks, Run: aboveFloor},
		{Name: "live", Why: "the score of what is not over, before it", On: (*plan).Reranks, Run: liveFirst},
		{Name: "endpoint", Why: "the score of the place it moved to", On: namesEndpoint, Run: endpointFirst},
		{Name: "collapse", Why: "the best rank of its copies", On: collapses, Run: collapse},
		{Name: "distinct", Why: "the best rank of those with the same passage", On: distinguishes, Run: distinct},
		{Name: "thread", On: distinguishes, Run: thread},
		{Name: crossEncoderStage, Why: "the score of the place it moved to", On: crossed, Run: crossEncode},
		{Name: "apart", Why: "the score of the place it moved to", On: keepsApart, Run: apart},
		{Name: "diversify", Why: "never above the result before it", On: diversifies, Run: diversify},
		{Name: "named", Why: "the score of the place it moved to", On: (*plan).Unfinished, Run: named},
		{Name: "pin", Why: "the score of the result after it", On: pinned, Run: pin, node: pinNode},
	}
	scoring = stages[:3]
)

func isFused(p *plan) bool       { return !p.Reranks() }
func crossed(p *plan) bool       { return p.Reranks() && p.Crossed }
func collapses(p *plan) bool     { return p.Profile.Collapse > 0 }
func distinguishes(p *plan) bool { return collapses(p) && p.Request.Distinct }
func keepsApart(p *plan) bool    { return p.Request.Apart > 0 }
func diversifies(p *plan) bool   { return p.Request.Diversify }
func pinned(p *plan) bool        { return len(p.Places) > 0 }

// named puts first what has all words in its name, while the last of them is typed:
// names are what people type the beginnings of.
func named(r *run, list []*candidate) []*candidate {
	scores := make([]float64, len(list))
	var first, rest []*candidate
	for i, c := range list {
		if scores[i] = c.Shown; r.Plan.Named(c.Document) {
			first = append(first, c)
		} else {
			rest = append(rest, c)
		}
	}
	list = append(first, rest...)
	for i, c := range list {
		c.Shown = scores[i]
	}
	return list
}

// crossEncoderStage names the stage, and the engine that it may be without.
const crossEncoderStage = "cross-encoder"

// arrange takes the candidates through those of the stages that the plan has and returns
// what is left, best first.
func (r *run) arrange(stages []stage) []*candidate {
	r.scratch.list = append(r.scratch.list[:0], r.Candidates...)
	list := r.scratch.list
	for _, c := range list { // as the lists have it
		c.Shown, c.Lexical = c.Score, true
		if len(c.Passages) > 0 {
			c.Best = c.Passages[0]
		}
	}
	for _, stage := range stages {
		if !stage.On(r.Plan) {
			continue
		}
		list = stage.Run(r, list)
		if r.Plan.Request.Explain {
			record(list, stage.Name)
		}
		r.trace.End(stage.Name)
	}
	return list
}

// record keeps for explanations how a stage changed the scores. What a pin has moved
// is recorded even if its score is the same.
func record(list []*candidate, stage string) {
	for _, c := range list {
		before := 0.0
		if n := len(c.Steps); n > 0 {
			before = c.Steps[n-1].Score
		}
		if c.Shown != before || c.Pin != nil {
			c.Steps = append(c.Steps, step{Stage: stage, Score: c.Shown})
		}
	}
}

// asFused leaves the fused order as it is.
func asFused(_ *run, list []*candidate) []*candidate { return list }

func namesEndpoint(p *plan) bool {
	_, ok := p.endpoint()
	return ok
}

// endpointFirst puts the endpoints that the query names before everything else.
func endpointFirst(r *run, list []*candidate) []*candidate {
	asked, _ := r.Plan.endpoint()
	scores := make([]float64, len(list))
	how := map[*candidate]int{}
	for i, c := range list {
		scores[i], how[c] = c.Shown, notNamed
		if c.Document.Attributes.Kind != string(catalog.KindEndpoint) {
			continue
		}
		if described, ok := readEndpoint(c.Document.Title); ok {
			how[c] = asked.Names(described)
		}
	}
	slices.SortStableFunc(list, func(a, b *candidate) int { return cmp.Compare(how[a], how[b]) })
	for i, c := range list {
		c.Shown = scores[i]
	}
	return list
}
