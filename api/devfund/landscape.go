package devfund

import (
	"context"
	"time"

	"almanac/api/kb"
	"almanac/api/op"
	"almanac/catalog"
)

// Landscape is the state of the grant proposals, of all or of one label.
type Landscape struct {
	Category string `json:"category,omitempty" doc:"the label that was asked for"`
	Totals
	Recent []Activity `json:"recent" doc:"latest changes of state, newest first"`
	AsOf   time.Time  `json:"as_of"`
	Method string     `json:"method" doc:"how it was computed, in one sentence"`
	Hint   string     `json:"hint,omitempty" doc:"if there are none: labels that exist"`
}

// Activity is a change of a proposal's state.
type Activity struct {
	Number string    `json:"number" doc:"of its pull request"`
	Title  string    `json:"title"`
	To     string    `json:"to" enum:"open,merged,closed" doc:"open: it was submitted"`
	At     time.Time `json:"at"`
	URL    string    `json:"url"`
}

// Bounds of the answer.
const (
	labelsShown = 10
	unitsShown  = 5
	recentShown = 10
)

type landscapeIn struct {
	Category string `json:"category" maxLength:"100" doc:"only proposals with this label"`
}

var landscape = kb.New(op.Spec{
	ID: "get_funding_landscape", Tool: "get_funding_landscape", Kinds: []catalog.Kind{catalog.KindGrant},
	Doc: `
Grants by state and label
Counts of grant proposals by state and label, sums of funding, recent activity.

Counts grant proposals by state and label, adds up the funding they request, and lists the latest changes of state;
category narrows it to one label. For the proposals themselves use get_proposals.
`,
}, runLandscape)

func runLandscape(ctx context.Context, b kb.Base, in landscapeIn) (Landscape, error) {
	all, at, err := kb.Derived(ctx, b, "get_funding_landscape", 0, func(ctx context.Context) ([]catalog.Record, error) {
		records, _, err := b.Catalog.List(ctx, grants)
		return records, err
	})
	if err != nil {
		return Landscape{}, err
	}
	list := labelled(all, in.Category)
	out := Landscape{
		Category: in.Category, Totals: totalsOf(list), AsOf: at,
		Method: "Sums are those that a proposal's text states as one amount; ranges, upper bounds and monthly sums are " +
			"counted as unparsed.",
	}
	if len(list) == 0 {
		out.Hint = kb.NoSuch("label", in.Category, totalsOf(all).LabelNames())
	}
	out.Labels = out.Labels[:min(labelsShown, len(out.Labels))]
	out.Funding = out.Funding[:min(unitsShown, len(out.Funding))]
	events, err := b.Catalog.Events(ctx, catalog.EventQuery{Ref: catalog.Ref{Kind: catalog.KindGrant}, Field: "state"})
	for _, e := range grantEvents(events, list, recentShown) {
		out.Recent = append(out.Recent, Activity{e.Grant.Key, e.Grant.Title, e.To, e.At.UTC(), b.URL(e.Grant)})
	}
	return out, err
}

// grants selects the proposals without their further files.
var grants = catalog.ListQuery{Kinds: []catalog.Kind{catalog.KindGrant}, TopLevel: true}
