package cips

import (
	"context"
	"errors"
	"slices"
	"time"

	"almanac/api/kb"
	"almanac/api/op"
	"almanac/catalog"
	"almanac/catalog/derive"
)

// Outcomes is the throughput of governance in a window and in the one before.
type Outcomes struct {
	WindowDays int              `json:"window_days"`
	Since      time.Time        `json:"since"`
	Until      time.Time        `json:"until"`
	Before     time.Time        `json:"before_since" doc:"start of the window before, which ends where this one starts"`
	Measures   []derive.Measure `json:"measures"`
	Days       Passages         `json:"draft_to_final" doc:"of the proposals that became Final in a window"`
	Hint       string           `json:"hint,omitempty" doc:"if nothing happened: what to try"`
	kb.Grounds
}

// Passages are the days from Draft to Final.
type Passages struct {
	Proposals int      `json:"proposals"`
	Median    *float64 `json:"median_days" doc:"null: none became Final"`
	Before    *float64 `json:"median_days_before"`
}

// decisionsShown bounds the evidence.
const decisionsShown = 10

type outcomesIn struct {
	Days int `json:"window_days" required:"true" minimum:"7" maximum:"365" doc:"length of the window that ends now"`
}

var outcomes = kb.New(op.Spec{
	ID: "compare_governance_outcomes", Tool: "compare_governance_outcomes",
	Doc: `
Pace of governance
Throughput of governance in a window, compared with the window before.

Counts status changes, decided votes, mails and decided grants in a window beside the window before, with the days
from Draft to Final. For single events use get_recent_changes.
`,
}, runOutcomes)

func runOutcomes(ctx context.Context, b kb.Base, in outcomesIn) (Outcomes, error) {
	until := b.Now().UTC().Truncate(time.Second)
	since := until.AddDate(0, 0, -in.Days)
	out := Outcomes{WindowDays: in.Days, Since: since, Until: until, Before: since.AddDate(0, 0, -in.Days)}
	g, err := governance(ctx, b, out.Before)
	if err != nil {
		return Outcomes{}, err
	}
	now, before := g.Throughput(since, until), g.Throughput(out.Before, since)
	out.Measures = derive.CompareThroughput(now, before)
	out.Days = Passages{len(now.Final), derive.MedianDays(now.Final), derive.MedianDays(before.Final)}
	out.Method = "Counts dated events; a proposal's first status is no change, and a vote request counts when it was " +
		"decided."
	if !slices.ContainsFunc(out.Measures, func(m derive.Measure) bool { return m.Now+m.Before > 0 }) {
		out.Hint = "nothing happened in either window: try a longer one, up to 365 days"
	}
	out.Evidence, err = decisions(ctx, b, now.Decisions())
	return out, err
}

// governance reads what the windows since a time are counted from.
func governance(ctx context.Context, b kb.Base, since time.Time) (g derive.Governance, err error) {
	var errs [4]error
	// All changes of status: a draft may be older than the windows.
	statuses := catalog.EventQuery{Ref: catalog.Ref{Kind: catalog.KindCIP}, Field: "status"}
	states := catalog.EventQuery{Ref: catalog.Ref{Kind: catalog.KindProposal}, Field: "state", Since: since}
	requests := catalog.ListQuery{Kinds: []catalog.Kind{catalog.KindVoteRequest}, States: []string{"closed"}}
	messages := catalog.ListQuery{
		Kinds: []catalog.Kind{catalog.KindMailMessage}, Containers: derive.GovernanceLists, Since: since,
	}
	g.Statuses, errs[0] = b.Catalog.Events(ctx, statuses)
	g.Grants, errs[1] = b.Catalog.Events(ctx, states)
	g.Requests, _, errs[2] = b.Catalog.List(ctx, requests)
	g.Messages, _, errs[3] = b.Catalog.List(ctx, messages)
	return g, errors.Join(errs[:]...)
}

// decisions are the evidence of a window: its latest decisions, each of the same
// weight.
func decisions(ctx context.Context, b kb.Base, list []derive.Decision) ([]kb.Evidence, error) {
	var out []kb.Evidence
	for _, d := range list {
		r, err := b.Catalog.Head(ctx, d.Ref)
		if errors.Is(err, catalog.ErrNotFound) { // a proposal may have events and no file
			continue
		}
		if err != nil || len(out) == decisionsShown {
			return out, err
		}
		e := kb.Evidence{Item: b.Item(r), Why: d.What, Weight: kb.Score(1 / float64(len(list)))}
		e.Date = kb.Time(d.At)
		out = append(out, e)
	}
	return out, nil
}
