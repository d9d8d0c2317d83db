// Package order brings candidates into the order in which they are shown: a table
// of stages, of which a plan has some. What a stage does to the scores is explained
// by its row.
package order

import (
	"cmp"
	"slices"

	"almanac/catalog"
	"almanac/retrieval/gather"
	"almanac/retrieval/plan"
	"almanac/retrieval/ranking"
	"almanac/retrieval/rerank"
	"almanac/retrieval/trace"
)

// Stage is a step that a plan may have.
type Stage struct {
	Name string
	Why  string // of the score that it gives, for explanations
	On   func(*plan.Plan) bool
	Run  func(*run, []*Candidate) []*Candidate
	// node explains the score that it gave a candidate; nil: by Why.
	node func(p *plan.Plan, c *Candidate, n trace.Node) trace.Node
}

// Stages are all stages in their order. Those of Scoring, the first of them, give
// candidates their scores; the others move and join them.
var (
	Stages = []Stage{
		{Name: "fusion", On: fused, Run: asFused},
		{Name: "rerank", On: (*plan.Plan).Reranks, Run: score, node: modelNode},
		{Name: "floor", On: (*plan.Plan).Reranks, Run: aboveFloor},
		{Name: "live", Why: "the score of what is not over, before it", On: (*plan.Plan).Reranks, Run: liveFirst},
		{Name: "endpoint", Why: "the score of the place it moved to", On: namesEndpoint, Run: endpointFirst},
		{Name: "collapse", Why: "the best rank of its copies", On: collapses, Run: collapse},
		{Name: "distinct", Why: "the best rank of those with the same passage", On: distinguishes, Run: distinct},
		{Name: "thread", On: distinguishes, Run: thread},
		{Name: CrossEncoder, Why: "the score of the place it moved to", On: crossed, Run: crossEncode},
		{Name: "apart", Why: "the score of the place it moved to", On: keepsApart, Run: apart},
		{Name: "diversify", Why: "never above the result before it", On: diversifies, Run: diversify},
		{Name: "named", Why: "the score of the place it moved to", On: (*plan.Plan).Unfinished, Run: named},
		{Name: "pin", Why: "the score of the result after it", On: pinned, Run: pin, node: pinNode},
	}
	Scoring = Stages[:3]
)

func fused(p *plan.Plan) bool         { return !p.Reranks() }
func crossed(p *plan.Plan) bool       { return p.Reranks() && p.Crossed }
func collapses(p *plan.Plan) bool     { return p.Profile.Collapse > 0 }
func distinguishes(p *plan.Plan) bool { return collapses(p) && p.Request.Distinct }
func keepsApart(p *plan.Plan) bool    { return p.Request.Apart > 0 }
func diversifies(p *plan.Plan) bool   { return p.Request.Diversify }
func pinned(p *plan.Plan) bool        { return len(p.Places) > 0 }

// named puts first what has all words in its name, while the last of them is typed:
// names are what people type the beginnings of.
func named(r *run, list []*Candidate) []*Candidate {
	scores := make([]float64, len(list))
	var first, rest []*Candidate
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

// CrossEncoder names the stage, and the engine that it may be without.
const CrossEncoder = "cross-encoder"

// run is what stages need besides the candidates.
type run struct {
	*gather.Found
	scratch *Scratch
}

// Candidate is a gathered record with what the stages make of it.
type Candidate struct {
	*gather.Candidate

	Scored  *rerank.Scored // signals, and as z-scores; nil if the profile does not rerank
	Z       *ranking.Vector
	Best    int // ordinal of the best passage; package show may find a better one
	Lexical bool
	Linear  float64        // score of the linear model
	Shown   float64        // score as it is shown
	AlsoAt  []int64        // records that it stands for
	Posts   []*Candidate   // others of its thread, shown with it, best first
	Into    *Candidate     // the one that is shown in its place; nil: none
	Is      string         // what it is to that one: "is in the thread of"; "": a copy
	Pin     *ranking.Place // that moved it; nil: none
	Steps   []Step         // stages that changed the score, if it is to be explained
}

// Step is the score after a stage.
type Step struct {
	Stage string
	Score float64
}

// Scratch is the memory of the stages of one search, which a later search uses again.
// Whoever runs a search provides it. Candidates refer to it until Release.
type Scratch struct {
	candidates []Candidate
	list       []*Candidate
	in         []rerank.Candidate
	scored     []rerank.Scored
	normalised []ranking.Vector
}

// Of returns the candidate of a record, also one that a stage has dropped; nil: none.
func (s *Scratch) Of(record int64) *Candidate {
	at := slices.IndexFunc(s.candidates, func(c Candidate) bool { return c.Record == record })
	if at < 0 {
		return nil
	}
	return &s.candidates[at]
}

// Release drops what a search found, which must not be kept alive.
func (s *Scratch) Release() {
	clear(s.candidates)
	clear(s.in)
}

// begin makes candidates of what was gathered, as the lists have it.
func (s *Scratch) begin(gathered []*gather.Candidate) []*Candidate {
	s.candidates, s.list = gather.Sized(s.candidates, len(gathered)), gather.Sized(s.list, len(gathered))
	for i, c := range gathered {
		s.candidates[i] = Candidate{Candidate: c, Shown: c.Score, Lexical: true}
		if len(c.Passages) > 0 {
			s.candidates[i].Best = c.Passages[0]
		}
		s.list[i] = &s.candidates[i]
	}
	return s.list
}

// Run takes candidates through those of the stages that the plan has and returns
// what is left, best first.
func Run(f *gather.Found, stages []Stage, t *trace.Trace, s *Scratch) []*Candidate {
	r, list := &run{f, s}, s.begin(f.Candidates)
	for _, stage := range stages {
		if !stage.On(f.Plan) {
			continue
		}
		list = stage.Run(r, list)
		if f.Plan.Request.Explain {
			record(list, stage.Name)
		}
		t.End(stage.Name)
	}
	return list
}

// record keeps for explanations how a stage changed the scores. What a pin has moved
// is recorded even if its score is the same.
func record(list []*Candidate, stage string) {
	for _, c := range list {
		before := 0.0
		if n := len(c.Steps); n > 0 {
			before = c.Steps[n-1].Score
		}
		if c.Shown != before || c.Pin != nil {
			c.Steps = append(c.Steps, Step{Stage: stage, Score: c.Shown})
		}
	}
}

// asFused leaves the fused order as it is.
func asFused(_ *run, list []*Candidate) []*Candidate { return list }

func namesEndpoint(p *plan.Plan) bool {
	_, ok := p.Endpoint()
	return ok
}

// endpointFirst puts the endpoints that the query names before everything else.
func endpointFirst(r *run, list []*Candidate) []*Candidate {
	asked, _ := r.Plan.Endpoint()
	scores := make([]float64, len(list))
	how := map[*Candidate]int{}
	for i, c := range list {
		scores[i], how[c] = c.Shown, plan.NotNamed
		if c.Document.Attributes.Kind != string(catalog.KindEndpoint) {
			continue
		}
		if described, ok := plan.ReadEndpoint(c.Document.Title); ok {
			how[c] = asked.Names(described)
		}
	}
	slices.SortStableFunc(list, func(a, b *Candidate) int { return cmp.Compare(how[a], how[b]) })
	for i, c := range list {
		c.Shown = scores[i]
	}
	return list
}
