package devfund

import (
	"context"

	"almanac/api/kb"
	"almanac/api/kb/evidence"
	"almanac/api/kb/find"
	"almanac/api/op"
	"almanac/catalog"
)

// Readiness is how ready a draft of a grant proposal is.
type Readiness struct {
	Score  float64 `json:"score" doc:"0 to 1: weight of the passed checks"`
	Checks []Check `json:"checks"`
	evidence.Grounds
}

type draftIn struct {
	Text string `json:"draft_text" required:"true" maxLength:"50000" doc:"the draft, in Markdown"`
}

var readiness = kb.New(op.Spec{
	ID: "proposal_success_predictor", Tool: "proposal_success_predictor", MayFail: unavailable,
	Kinds: []catalog.Kind{catalog.KindGrant},
	Doc: `
Is a draft ready
Readiness checklist of a draft grant proposal, beside the accepted grants most like it.

Checks a draft's text for milestones, code, sources, a realistic scope and a budget, and names the accepted grants most
like it: form, not merit. For an idea without a text use detect_builder_overlap.
`,
}, runReadiness)

func runReadiness(ctx context.Context, b kb.Base, in draftIn) (out Readiness, err error) {
	out.Score, out.Checks = checkDraft(in.Text)
	out.Evidence, err = fundedLike(ctx, b, in.Text)
	out.Method = "A checklist with fixed weights over the draft's form, which is no probability of acceptance; the " +
		"evidence are the accepted grants that a search for the draft finds."
	return out, err
}

// fundedShown is how many accepted grants are shown beside a draft.
const fundedShown = 3

// fundedLike finds the accepted grants most like a draft.
func fundedLike(ctx context.Context, b kb.Base, draft string) (rows []evidence.Row, err error) {
	search := find.Search{
		Field: "draft_text", Query: draftQuery(draft), Plain: true, Kinds: grants.Kinds, Limit: overlapRead,
	}
	search.Filter.States = []string{catalog.GrantClosed} // which merged ones are, too
	found, err := find.Rows(ctx, b, search, similar)
	for _, e := range found.Items {
		if e.State == catalog.GrantMerged && len(rows) < fundedShown {
			rows = append(rows, e)
		}
	}
	evidence.Weigh(rows)
	return rows, err
}
