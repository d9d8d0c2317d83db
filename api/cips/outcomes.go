package cips

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"time"

	"almanac/api/kb"
	"almanac/api/kb/evidence"
	"almanac/api/op"
	"almanac/catalog"
	"almanac/catalog/derive"
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

// governanceLists are the mailing lists of votes and of discussions, by the
// API's own names.
var governanceLists = []string{"cip-vote", "cip-discuss"}

// measures are what is counted in a window, in the order of the answer.
var measures = []string{
	"status_changes", "became_review", "became_final", "became_rejected", "became_withdrawn",
	"vote_requests_decided", "vote_requests_accepted", "vote_requests_rejected", "vote_requests_expired",
	"cip-vote_messages", "cip-vote_threads", "cip-discuss_messages", "cip-discuss_threads",
	"grants_merged", "grants_closed",
}

// proceedings are the records that the throughput of governance is counted from.
// They may reach beyond a window.
type proceedings struct {
	Statuses []catalog.Event  // changes of proposals' status, all there are
	Grants   []catalog.Event  // changes of grant proposals' state
	Requests []catalog.Record // vote requests that are closed
	Messages []catalog.Record // of governanceLists
}

// throughput is what governance did in a window.
type throughput struct {
	counts    map[string]int // by measure
	decisions []decision     // newest first
	final     []float64      // days from the first Draft to Final of those that became Final, ascending
}

// decision is an event that changed or ended something.
type decision struct {
	Ref  catalog.Ref
	At   time.Time
	What string // from → to in the source's words, or the outcome of a vote
}

func (t *throughput) changed(e catalog.Event) {
	t.decisions = append(t.decisions, decision{e.Ref, e.At, cmp.Or(e.RawFrom, e.From) + " → " + cmp.Or(e.RawTo, e.To)})
}

// throughput counts what happened after since and not after until. A proposal's
// first status is no change; one whose Draft is not known has no days to Final.
func (g proceedings) throughput(since, until time.Time) throughput {
	within := func(t time.Time) bool { return t.After(since) && !t.After(until) }
	out := throughput{counts: map[string]int{}}
	drafted := map[catalog.Ref]time.Time{}
	for _, e := range g.Statuses {
		if old, ok := drafted[e.Ref]; e.To == "Draft" && (!ok || e.At.Before(old)) {
			drafted[e.Ref] = e.At
		}
	}
	for _, e := range g.Statuses {
		if !within(e.At) || e.From+e.RawFrom == "" {
			continue
		}
		out.changed(e)
		out.counts["status_changes"]++
		if e.To == e.From {
			continue
		}
		out.counts["became_"+strings.ToLower(e.To)]++
		if at, ok := drafted[e.Ref]; ok && e.To == "Final" && at.Before(e.At) {
			out.final = append(out.final, e.At.Sub(at).Hours()/24)
		}
	}
	for _, e := range g.Grants {
		if within(e.At) && (e.To == catalog.GrantMerged || e.To == catalog.GrantClosed) {
			out.changed(e)
			out.counts["grants_"+e.To]++
		}
	}
	for _, r := range g.Requests {
		d, err := catalog.Decode[catalog.VoteRequest](r)
		if at := decidedAt(r, d); err == nil && d.Outcome != "" && within(at) {
			out.decisions = append(out.decisions, decision{r.Ref(), at, "vote request " + d.Outcome})
			out.counts["vote_requests_decided"]++
			out.counts["vote_requests_"+d.Outcome]++
		}
	}
	threads := map[int64]bool{}
	for _, m := range g.Messages {
		if list := catalog.Fold(m.Container); within(m.CreatedAt) {
			out.counts[list+"_messages"]++
			if !threads[m.Parent] {
				threads[m.Parent] = true
				out.counts[list+"_threads"]++
			}
		}
	}
	slices.Sort(out.final)
	slices.SortStableFunc(out.decisions, func(a, b decision) int { return b.At.Compare(a.At) })
	return out
}

// decidedAt is when a vote request was decided: at the latest when voting ended.
func decidedAt(r catalog.Record, d catalog.VoteRequest) time.Time {
	if at, ok := derive.ParseTime(d.DecidedAt); ok {
		return at
	}
	return r.EndsAt
}

// median is that of an ascending list, to a tenth; nil if it is empty.
func median(sorted []float64) *float64 {
	n := len(sorted)
	if n == 0 {
		return nil
	}
	return new(math.Round((sorted[(n-1)/2]+sorted[n/2])/2*10) / 10)
}

// Measure is a count in a window and in the one before.
type Measure struct {
	Name   string   `json:"name"`
	Now    int      `json:"now"`
	Before int      `json:"before"`
	Change *float64 `json:"change" doc:"relative: 0.5 is half as many again; null if there were none before"`
}

// Pace is the throughput of governance in a window and in the one before.
type Pace struct {
	WindowDays int           `json:"window_days"`
	Since      time.Time     `json:"since"`
	Until      time.Time     `json:"until"`
	Before     time.Time     `json:"before_since" doc:"start of the window before, which ends where this one starts"`
	Measures   []Measure     `json:"measures"`
	Passages   PassageCounts `json:"draft_to_final" doc:"of the proposals that became Final in a window"`
}

// PassageCounts are the days from Draft to Final.
type PassageCounts struct {
	Proposals int      `json:"proposals"`
	Median    *float64 `json:"median_days" doc:"null: none became Final"`
	Before    *float64 `json:"median_days_before"`
}

// pace compares the window of some days that ends at a time with the one before,
// and returns the decisions of the later one.
func (g proceedings) pace(days int, until time.Time) (Pace, []decision) {
	since := until.AddDate(0, 0, -days)
	p := Pace{WindowDays: days, Since: since, Until: until, Before: since.AddDate(0, 0, -days)}
	now, before := g.throughput(since, until), g.throughput(p.Before, since)
	for _, name := range measures {
		m := Measure{Name: name, Now: now.counts[name], Before: before.counts[name]}
		if m.Before > 0 {
			m.Change = new(math.Round(float64(m.Now-m.Before)/float64(m.Before)*1000) / 1000)
		}
		p.Measures = append(p.Measures, m)
	}
	p.Passages = PassageCounts{len(now.final), median(now.final), median(before.final)}
	return p, now.decisions
}

// quiet reports whether nothing happened in either window.
func (p Pace) quiet() bool {
	return !slices.ContainsFunc(p.Measures, func(m Measure) bool { return m.Now+m.Before > 0 })
}
