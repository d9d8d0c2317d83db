package devfund

import (
	"context"

	"almanac/api/kb"
	"almanac/api/op"
	"almanac/catalog"
	"almanac/catalog/derive"
)

// Readiness is how ready a draft of a grant proposal is.
type Readiness struct {
	derive.Readiness
	Accepted int `json:"accepted_grants" doc:"how many the accepted rates are of"`
	Declined int `json:"declined_grants"`
	kb.Grounds
}

type draftIn struct {
	Text string `json:"draft_text" required:"true" maxLength:"50000" doc:"the draft, in Markdown"`
}

var readiness = kb.New(op.Spec{
	ID: "proposal_success_predictor", Tool: "proposal_success_predictor", MayFail: unavailable,
	Doc: `
Is a draft ready
Readiness checklist of a draft grant proposal, beside what accepted grants do.

Checks a draft's text for milestones, code, sources, budget, schedule and overlap with funded work, beside what
accepted grants have: form, not merit. For an idea without a text use detect_builder_overlap.
`,
}, runReadiness)

func runReadiness(ctx context.Context, b kb.Base, in draftIn) (Readiness, error) {
	read := func(ctx context.Context) (*derive.GrantBase, error) {
		q := grants
		q.WithBody, q.Order = true, catalog.ByCreated
		records, _, err := b.Catalog.List(ctx, q)
		return derive.NewGrantBase(records), err
	}
	base, _, err := kb.Derived(ctx, b, "proposal_success_predictor", 0, read)
	if err != nil {
		return Readiness{}, err
	}
	funded, evidence, err := fundedLike(ctx, b, in.Text)
	out := Readiness{Readiness: base.Readiness(in.Text, funded), Accepted: base.AcceptedN, Declined: base.DeclinedN}
	out.Evidence = evidence
	out.Method = "A checklist with fixed weights over the draft's form, which is no probability of acceptance; rates " +
		"come from running it on the grants in the catalog."
	return out, err
}

// fundedShown is how many accepted grants a draft is compared with.
const fundedShown = 3

// fundedLike finds the accepted grants most like a draft, with their texts.
func fundedLike(ctx context.Context, b kb.Base, draft string) ([]catalog.Record, []kb.Evidence, error) {
	search := kb.Search{
		Field: "draft_text", Query: derive.GrantQuery(draft), Plain: true, Kinds: grants.Kinds, Limit: overlapRead,
	}
	search.Filter.States = []string{derive.GrantClosed} // which merged ones are, too
	found, err := kb.FindRows(ctx, b, search, similar)
	if err != nil {
		return nil, nil, err
	}
	var evidence []kb.Evidence
	for _, e := range found.Items {
		if e.State == derive.GrantMerged && len(evidence) < fundedShown {
			evidence = append(evidence, e)
		}
	}
	kb.Weigh(evidence)
	ids := make([]int64, len(evidence))
	for i, e := range evidence {
		ids[i] = e.RecordID
	}
	funded, err := b.Catalog.Records(ctx, ids)
	return funded, evidence, err
}
