package devfund

import (
	"context"

	"almanac/api/kb"
	"almanac/api/op"
	"almanac/catalog"
)

// Overlap is what an idea overlaps with.
type Overlap struct {
	Idea     string   `json:"idea"`
	Projects int      `json:"projects" doc:"how many of the evidence are projects"`
	Grants   int      `json:"grants" doc:"how many are grant proposals"`
	Degraded []string `json:"degraded,omitempty" doc:"parts of the search that did not answer"`
	Hint     string   `json:"hint,omitempty" doc:"if nothing was found: what to try"`
	kb.Grounds
}

// How much is searched, and how many of each kind are shown.
const (
	overlapRead  = 50
	overlapShown = 5
)

type overlapIn struct {
	Idea string `json:"idea" required:"true" maxLength:"4000" doc:"of a project or a proposal, in your own words"`
}

var unavailable = []error{op.ErrUnavailable}

var overlap = kb.New(op.Spec{
	ID: "detect_builder_overlap", Tool: "detect_builder_overlap", MayFail: unavailable,
	Doc: `
Who builds something similar
Ecosystem projects and grant proposals like an idea, with what they share.

Finds the ecosystem projects and grant proposals most like an idea, with what they share. To check a draft's text use
proposal_success_predictor.
`,
}, runOverlap)

func runOverlap(ctx context.Context, b kb.Base, in overlapIn) (Overlap, error) {
	search := kb.Search{
		Field: "idea", Query: in.Idea, Plain: true, Limit: overlapRead,
		Kinds: []catalog.Kind{catalog.KindProject, catalog.KindGrant},
	}
	found, err := kb.FindRows(ctx, b, search, similar)
	out := Overlap{Idea: kb.First(in.Idea, 200), Degraded: found.Degraded, Hint: found.Hint}
	out.Method = "One search over projects and grant proposals; a weight is a result's share in the scores of those shown."
	shown := map[string]int{}
	for _, e := range found.Items {
		if e.Kind != "" && shown[e.Kind] < overlapShown {
			shown[e.Kind]++
			out.Evidence = append(out.Evidence, e)
		}
	}
	kb.Weigh(out.Evidence)
	out.Projects, out.Grants = shown[string(catalog.KindProject)], shown[string(catalog.KindGrant)]
	return out, err
}

// similar makes the evidence of a result, its score as the weight; without a
// kind for a further file of a grant proposal.
func similar(b kb.Base, m kb.Match) (kb.Evidence, error) {
	if m.Record.Parent != 0 {
		return kb.Evidence{}, nil
	}
	e := kb.Evidence{Item: b.Item(m.Record), Why: m.Shared(), Snippet: m.Result.Snippet, Weight: m.Result.Score}
	if m.Record.Kind != catalog.KindGrant {
		return e, nil
	}
	d, err := kb.Decode[catalog.Grant](m.Record)
	e.State = d.Outcome(m.Record.State)
	return e, err
}
