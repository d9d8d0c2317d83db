package cips

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"almanac/catalog"
	"almanac/testing/recordtest"
)

func status(key, from, to string, hours int) catalog.Event {
	return catalog.Event{Ref: catalog.Ref{Kind: catalog.KindCIP, Key: key}, Field: "status", At: recordtest.Ago(hours),
		From: from, To: to, RawFrom: from, RawTo: to}
}

// TestThroughput holds what counts in a day and in the day before.
func TestThroughput(t *testing.T) {
	grant := func(key, to string, hours int) catalog.Event {
		return catalog.Event{Ref: catalog.Ref{Kind: catalog.KindGrant, Key: key}, Field: "state", At: recordtest.Ago(hours),
			From: "open", To: to}
	}
	request := func(key, outcome, decided string, ends int) catalog.Record {
		return recordtest.With(catalog.Record{Kind: catalog.KindVoteRequest, Key: key, EndsAt: recordtest.Ago(ends)},
			catalog.VoteRequest{Outcome: outcome, DecidedAt: decided})
	}
	mail := func(list string, thread int64, hours int) catalog.Record {
		return catalog.Record{Kind: catalog.KindMailMessage, Container: list, Parent: thread,
			CreatedAt: recordtest.Ago(hours)}
	}
	g := proceedings{
		Statuses: []catalog.Event{
			status("CIP-1", "Review", "Final", 2), status("CIP-1", "Draft", "Review", 30),
			status("CIP-1", "", "Draft", 24*10+2),
			status("CIP-2", "Review", "Final", 3), status("CIP-2", "Draft", "Review", 5),
			status("CIP-2", "", "Draft", 24*4+3),
			status("CIP-3", "", "Draft", 1),                                         // a first status
			status("CIP-4", "Review", "Final", 4), status("CIP-4", "", "Review", 9), // never a draft
			status("CIP-5", "Draft", "Withdrawn", 24), // as the window before ends
			status("CIP-6", "Final", "Final", 7),      // another word of the network for it
			status("CIP-7", "Review", "Final", 40), status("CIP-7", "", "Draft", 24*6+40),
		},
		Grants: []catalog.Event{
			grant("1", "merged", 1), grant("2", "closed", 2), grant("3", "open", 3), grant("4", "merged", 48),
			grant("5", "merged", 30),
		},
		Requests: []catalog.Record{
			request("a", "accepted", recordtest.Ago(3).Format(time.RFC3339), 400), request("b", "rejected", "", 4),
			request("c", "", "", 4),
			request("d", "accepted", "", 47), request("e", "accepted", "", -5),
			{Kind: catalog.KindVoteRequest, Data: []byte("{")},
		},
		Messages: []catalog.Record{
			mail("cip-vote", 1, 1), mail("CIP-Vote", 1, 2), mail("cip-vote", 2, 3), mail("cip-discuss", 3, 26),
			mail("cip-discuss", 3, 20),
		},
	}
	p, latest := g.pace(1, recordtest.Noon)
	var got []string
	for _, m := range p.Measures {
		change := "null"
		if m.Change != nil {
			change = fmt.Sprint(*m.Change)
		}
		got = append(got, fmt.Sprintf("%s %d %d %s", m.Name, m.Now, m.Before, change))
	}
	want := []string{
		"status_changes 5 3 0.667", "became_review 1 1 0", "became_final 3 1 2", "became_rejected 0 0 null",
		"became_withdrawn 0 1 -1", "vote_requests_decided 2 1 1", "vote_requests_accepted 1 1 0",
		"vote_requests_rejected 1 0 null", "vote_requests_expired 0 0 null", "cip-vote_messages 3 0 null",
		"cip-vote_threads 2 0 null", "cip-discuss_messages 1 1 0", "cip-discuss_threads 1 1 0", "grants_merged 1 1 0",
		"grants_closed 1 0 null",
	}
	if !slices.Equal(got, want) {
		t.Errorf("measures:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if n := p.Passages; n.Proposals != 2 || *n.Median != 7 || *n.Before != 6 { // of 4 and 10 days, and of 6
		t.Errorf("from Draft to Final: %+v", n)
	}
	var decisions []string
	for _, d := range latest {
		decisions = append(decisions, d.Ref.Key+" "+d.What)
	}
	if got, want := strings.Join(decisions, ", "),
		"1 open → merged, CIP-1 Review → Final, 2 open → closed, CIP-2 Review → Final, "+
			"a vote request accepted, CIP-4 Review → Final, b vote request rejected, CIP-2 Draft → Review, CIP-6 "+
			"Final → Final"; got != want {
		t.Errorf("decisions %s\nwant %s", got, want)
	}
}

// TestPace holds the windows, the days to Final in both, and what is quiet.
func TestPace(t *testing.T) {
	g := proceedings{Statuses: []catalog.Event{
		status("CIP-1", "Review", "Final", 2), status("CIP-1", "", "Draft", 24*10+2),
		status("CIP-7", "Review", "Final", 40), status("CIP-7", "", "Draft", 24*6+40),
	}}
	p, decisions := g.pace(1, recordtest.Noon)
	if !p.Since.Equal(recordtest.Ago(24)) || !p.Until.Equal(recordtest.Noon) || !p.Before.Equal(recordtest.Ago(48)) ||
		p.WindowDays != 1 {
		t.Errorf("windows %+v", p)
	}
	if n := p.Passages; n.Proposals != 1 || *n.Median != 10 || *n.Before != 6 {
		t.Errorf("passages %+v", n)
	}
	if len(decisions) != 1 || decisions[0].Ref.Key != "CIP-1" || p.quiet() {
		t.Errorf("decisions %+v, quiet: %t", decisions, p.quiet())
	}
	if p, decisions := (proceedings{}).pace(30, recordtest.Noon); !p.quiet() || p.Passages.Median != nil ||
		len(decisions) > 0 {
		t.Errorf("of nothing: %+v", p)
	}
}
