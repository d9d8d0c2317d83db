package cips

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"almanac/catalog"
	"almanac/catalog/derive"
)

// governanceLists are the mailing lists of votes and of discussions, by the
// API's own names.
var governanceLists = []string{"cip-vote", "cip-discuss"}

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
	Changes  []catalog.Event  // of status; a proposal's first status is none
	Merged   []catalog.Event  // grant proposals
	Closed   []catalog.Event  // without merging
	Decided  []catalog.Record // vote requests, by the time of their decision
	Outcomes map[string]int   // of these
	Messages map[string]int   // by mailing list
	Threads  map[string]int   // with a message in the window
	Final    []passage        // proposals that became Final
}

// passage is a proposal's way from its first Draft to Final.
type passage struct {
	Proposal catalog.Ref
	Days     float64
}

// throughput counts what happened after since and not after until.
func (g proceedings) Throughput(since, until time.Time) throughput {
	within := func(t time.Time) bool { return t.After(since) && !t.After(until) }
	out := throughput{Outcomes: map[string]int{}, Messages: map[string]int{}, Threads: map[string]int{}}
	for _, e := range g.Statuses {
		if within(e.At) && e.From+e.RawFrom != "" {
			out.Changes = append(out.Changes, e)
		}
	}
	for _, e := range g.Grants {
		switch {
		case !within(e.At):
		case e.To == catalog.GrantMerged:
			out.Merged = append(out.Merged, e)
		case e.To == catalog.GrantClosed:
			out.Closed = append(out.Closed, e)
		}
	}
	for _, r := range g.Requests {
		d, err := catalog.Decode[catalog.VoteRequest](r)
		if err == nil && d.Outcome != "" && within(decidedAt(r, d)) {
			out.Decided = append(out.Decided, r)
			out.Outcomes[d.Outcome]++
		}
	}
	threads := map[int64]bool{}
	for _, m := range g.Messages {
		if !within(m.CreatedAt) {
			continue
		}
		list := catalog.Fold(m.Container)
		out.Messages[list]++
		if !threads[m.Parent] {
			threads[m.Parent] = true
			out.Threads[list]++
		}
	}
	out.Final = passages(g.Statuses, out.Changes)
	return out
}

// decidedAt is when a vote request was decided: at the latest when voting ended.
func decidedAt(r catalog.Record, d catalog.VoteRequest) time.Time {
	if at, ok := derive.ParseTime(d.DecidedAt); ok {
		return at
	}
	return r.EndsAt
}

// passages are those of the proposals that a change made Final. One whose Draft
// is not known has none.
func passages(all, changes []catalog.Event) []passage {
	drafted := map[catalog.Ref]time.Time{}
	for _, e := range all {
		if old, ok := drafted[e.Ref]; e.To == "Draft" && (!ok || e.At.Before(old)) {
			drafted[e.Ref] = e.At
		}
	}
	var out []passage
	for _, e := range changes {
		if at, ok := drafted[e.Ref]; ok && e.To == "Final" && e.From != "Final" && at.Before(e.At) {
			out = append(out, passage{e.Ref, e.At.Sub(at).Hours() / 24})
		}
	}
	slices.SortFunc(out, func(a, b passage) int {
		return cmp.Or(cmp.Compare(a.Days, b.Days), cmp.Compare(a.Proposal.Key, b.Proposal.Key))
	})
	return out
}

// medianDays is the median of passages, which are sorted, to a tenth; nil if
// there are none.
func medianDays(p []passage) *float64 {
	n := len(p)
	if n == 0 {
		return nil
	}
	return new(math.Round((p[(n-1)/2].Days+p[n/2].Days)/2*10) / 10)
}

// Measure is a count in a window and in the one before.
type Measure struct {
	Name   string   `json:"name"`
	Now    int      `json:"now"`
	Before int      `json:"before"`
	Change *float64 `json:"change" doc:"relative: 0.5 is half as many again; null if there were none before"`
}

// compareThroughput compares the counts of two windows.
func compareThroughput(now, before throughput) []Measure {
	counts, earlier := now.counts(), before.counts()
	out := make([]Measure, len(counts))
	for i, c := range counts {
		out[i] = Measure{Name: c.name, Now: c.n, Before: earlier[i].n}
		if was := earlier[i].n; was > 0 {
			out[i].Change = new(math.Round(float64(c.n-was)/float64(was)*1000) / 1000)
		}
	}
	return out
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

// Pace compares the window of some days that ends at a time with the one before,
// and returns the decisions of the later one.
func (g proceedings) Pace(days int, until time.Time) (Pace, []decision) {
	since := until.AddDate(0, 0, -days)
	p := Pace{WindowDays: days, Since: since, Until: until, Before: since.AddDate(0, 0, -days)}
	now, before := g.Throughput(since, until), g.Throughput(p.Before, since)
	p.Measures = compareThroughput(now, before)
	p.Passages = PassageCounts{len(now.Final), medianDays(now.Final), medianDays(before.Final)}
	return p, now.Decisions()
}

// Quiet reports whether nothing happened in either window.
func (p Pace) Quiet() bool {
	return !slices.ContainsFunc(p.Measures, func(m Measure) bool { return m.Now+m.Before > 0 })
}

type namedCount struct {
	name string
	n    int
}

func (t throughput) counts() []namedCount {
	list := []namedCount{{"status_changes", len(t.Changes)}}
	for _, status := range []string{"Review", "Final", "Rejected", "Withdrawn"} {
		n := 0
		for _, e := range t.Changes {
			if e.To == status && e.From != status {
				n++
			}
		}
		list = append(list, namedCount{"became_" + strings.ToLower(status), n})
	}
	list = append(list, namedCount{"vote_requests_decided", len(t.Decided)})
	for _, outcome := range []string{"accepted", "rejected", "expired"} {
		list = append(list, namedCount{"vote_requests_" + outcome, t.Outcomes[outcome]})
	}
	for _, group := range governanceLists {
		list = append(list, namedCount{group + "_messages", t.Messages[group]},
			namedCount{group + "_threads", t.Threads[group]})
	}
	return append(list, namedCount{"grants_merged", len(t.Merged)}, namedCount{"grants_closed", len(t.Closed)})
}

// decision is an event that changed or ended something.
type decision struct {
	Ref  catalog.Ref
	At   time.Time
	What string // from → to in the source's words, or the outcome of a vote
}

// Decisions lists the events of a window, newest first.
func (t throughput) Decisions() []decision {
	var list []decision
	for _, e := range slices.Concat(t.Changes, t.Merged, t.Closed) {
		list = append(list, decision{e.Ref, e.At, cmp.Or(e.RawFrom, e.From) + " → " + cmp.Or(e.RawTo, e.To)})
	}
	for _, r := range t.Decided {
		if d, err := catalog.Decode[catalog.VoteRequest](r); err == nil {
			list = append(list, decision{r.Ref(), decidedAt(r, d), "vote request " + d.Outcome})
		}
	}
	slices.SortStableFunc(list, func(a, b decision) int { return b.At.Compare(a.At) })
	return list
}
