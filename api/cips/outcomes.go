package cips

import (
	"context"
	"errors"
	"time"

	"almanac/api/kb"
	"almanac/api/kb/evidence"
	"almanac/api/op"
	"almanac/catalog"
)

// Outcomes is the throughput of governance in a window and in the one before.
type Outcomes struct {
	Pace
	Hint string `json:"hint,omitempty" doc:"if nothing happened: what to try"`
	evidence.Grounds
}

// decisionsShown bounds the evidence.
const decisionsShown = 10

type outcomesIn struct {
	Days int `json:"window_days" required:"true" minimum:"7" maximum:"365" doc:"length of the window that ends now"`
}

var outcomes = kb.New(op.Spec{
	ID: "compare_governance_outcomes", Tool: "compare_governance_outcomes",
	Kinds: []catalog.Kind{catalog.KindCIP, catalog.KindGrant, catalog.KindVoteRequest},
	Doc: `
Pace of governance
Throughput of governance in a window, compared with the window before.

Counts status changes, decided votes, mails and decided grants in a window beside the window before, with the days
from Draft to Final. For single events use get_recent_changes.
`,
}, runOutcomes)

func runOutcomes(ctx context.Context, b kb.Base, in outcomesIn) (Outcomes, error) {
	until := b.Now().UTC().Truncate(time.Second)
	g, err := governance(ctx, b, until.AddDate(0, 0, -2*in.Days))
	if err != nil {
		return Outcomes{}, err
	}
	pace, latest := g.pace(in.Days, until)
	out := Outcomes{Pace: pace}
	out.Method = "Counts dated events; a proposal's first status is no change, and a vote request counts when it was " +
		"decided."
	if pace.quiet() {
		out.Hint = "nothing happened in either window: try a longer one, up to 365 days"
	}
	out.Evidence, err = decisions(ctx, b, latest)
	return out, err
}

// governance reads what the windows since a time are counted from.
func governance(ctx context.Context, b kb.Base, since time.Time) (g proceedings, err error) {
	var errs [4]error
	// All changes of status: a draft may be older than the windows.
	statuses := catalog.EventQuery{Ref: catalog.Ref{Kind: catalog.KindCIP}, Field: "status"}
	states := catalog.EventQuery{Ref: catalog.Ref{Kind: catalog.KindGrant}, Field: "state", Since: since}
	requests := catalog.ListQuery{Kinds: []catalog.Kind{catalog.KindVoteRequest}, States: []string{"closed"}}
	messages := catalog.ListQuery{
		Kinds: []catalog.Kind{catalog.KindMailMessage}, Containers: governanceLists, Since: since,
	}
	g.Statuses, errs[0] = b.Catalog.Events(ctx, statuses)
	g.Grants, errs[1] = b.Catalog.Events(ctx, states)
	g.Requests, _, errs[2] = b.Catalog.List(ctx, requests)
	g.Messages, _, errs[3] = b.Catalog.List(ctx, messages)
	return g, errors.Join(errs[:]...)
}

// decisions are the evidence of a window: its latest decisions, each of the same
// weight.
func decisions(ctx context.Context, b kb.Base, list []decision) ([]evidence.Row, error) {
	refs := make([]catalog.Ref, len(list))
	for i, d := range list {
		refs[i] = d.Ref
	}
	heads, err := b.Catalog.HeadsOf(ctx, refs)
	var out []evidence.Row
	for _, d := range list {
		r, ok := heads[d.Ref]
		if !ok || len(out) == decisionsShown { // a proposal may have events and no file
			continue
		}
		e := evidence.Row{Item: b.Item(r), Why: d.What, Weight: kb.Score(1 / float64(len(list)))}
		e.Date = kb.Time(d.At)
		out = append(out, e)
	}
	return out, err
}
