package devfund

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
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

// GrantCounts counts grant proposals by what became of them.
type GrantCounts struct {
	Total  int `json:"total"`
	Open   int `json:"open"`
	Merged int `json:"merged" doc:"accepted"`
	Closed int `json:"closed" doc:"closed without merging"`
}

// LabelCounts are the counts of one label.
type LabelCounts struct {
	Label string `json:"label"`
	GrantCounts
}

// Funds are sums of funding in one unit.
type Funds struct {
	Unit      string  `json:"unit" doc:"currency or coin, as the proposals write it"`
	Proposals int     `json:"proposals" doc:"that state one sum in it"`
	Requested float64 `json:"requested" doc:"in all of them"`
	Granted   float64 `json:"granted" doc:"in merged ones"`
	Open      float64 `json:"open" doc:"in open ones"`
}

// Totals is the state of grant proposals.
type Totals struct {
	GrantCounts
	Labels     []LabelCounts `json:"labels" doc:"most proposals first"`
	Unlabelled int           `json:"unlabelled"`
	Funding    []Funds       `json:"funding" doc:"as the proposals state it; units are never converted"`
	Unparsed   int           `json:"funding_unparsed" doc:"proposals whose statement is not one settled sum: in no total"`
	Unstated   int           `json:"funding_unstated" doc:"proposals that state no sum"`
}

func (c *GrantCounts) add(outcome string) {
	c.Total++
	switch outcome {
	case catalog.GrantOpen:
		c.Open++
	case catalog.GrantMerged:
		c.Merged++
	default:
		c.Closed++
	}
}

// labelled returns the grant proposals with a label, in any case; all of
// them for an empty one.
func labelled(grants []catalog.Record, label string) []catalog.Record {
	tag := catalog.Tag(catalog.TagLabel, label)
	var out []catalog.Record
	for _, r := range grants {
		if tag == "" || slices.Contains(r.Tags, tag) {
			out = append(out, r)
		}
	}
	return out
}

// labelsOf are the labels in a record's tags.
func labelsOf(r catalog.Record) []string {
	var labels []string
	for _, tag := range r.Tags {
		if label, ok := strings.CutPrefix(tag, catalog.TagLabel+":"); ok {
			labels = append(labels, label)
		}
	}
	return labels
}

// totalsOf counts grant proposals by outcome and label and adds up what
// they request. The records may lack their bodies; those without readable data
// are left out.
func totalsOf(grants []catalog.Record) Totals {
	var out Totals
	labels := map[string]*LabelCounts{}
	var outcomes, statements []string
	for _, r := range grants {
		d, err := catalog.Decode[catalog.Grant](r)
		if err != nil {
			continue
		}
		outcome := d.Outcome(r.State)
		out.add(outcome)
		names := labelsOf(r)
		if len(names) == 0 {
			out.Unlabelled++
		}
		for _, l := range names {
			if labels[l] == nil {
				labels[l] = &LabelCounts{Label: l}
			}
			labels[l].add(outcome)
		}
		if d.Funding == "" {
			out.Unstated++
			continue
		}
		outcomes, statements = append(outcomes, outcome), append(statements, d.Funding)
	}
	for _, l := range labels {
		out.Labels = append(out.Labels, *l)
	}
	slices.SortFunc(out.Labels, func(a, b LabelCounts) int {
		return cmp.Or(cmp.Compare(b.Total, a.Total), cmp.Compare(a.Label, b.Label))
	})
	out.addFunding(outcomes, statements)
	return out
}

// LabelNames are the labels that proposals have, most proposals first.
func (l Totals) LabelNames() []string {
	names := make([]string, len(l.Labels))
	for i, c := range l.Labels {
		names[i] = c.Label
	}
	return names
}

// grantEvent is an event of a grant proposal.
type grantEvent struct {
	Grant catalog.Record
	catalog.Event
}

// grantEvents returns the first n events that are of one of some grant
// proposals.
func grantEvents(events []catalog.Event, grants []catalog.Record, n int) []grantEvent {
	of := map[string]catalog.Record{}
	for _, r := range grants {
		of[r.Key] = r
	}
	var out []grantEvent
	for _, e := range events {
		if r, ok := of[e.Ref.Key]; ok && len(out) < n {
			out = append(out, grantEvent{r, e})
		}
	}
	return out
}

func (l *Totals) addFunding(outcomes, statements []string) {
	units := map[string]Funds{}
	for i, a := range parseAmounts(statements) {
		if a.Value == 0 {
			l.Unparsed++
			continue
		}
		f := units[a.Unit]
		f.Unit = a.Unit
		f.Proposals++
		f.Requested += a.Value
		switch outcomes[i] {
		case catalog.GrantMerged:
			f.Granted += a.Value
		case catalog.GrantOpen:
			f.Open += a.Value
		}
		units[a.Unit] = f
	}
	l.Funding = slices.SortedFunc(maps.Values(units), func(a, b Funds) int {
		return cmp.Or(cmp.Compare(b.Proposals, a.Proposals), cmp.Compare(a.Unit, b.Unit))
	})
}
