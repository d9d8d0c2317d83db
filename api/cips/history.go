package cips

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"almanac/api/kb"
	"almanac/api/kb/arg"
	"almanac/api/kb/evidence"
	"almanac/api/op"
	"almanac/catalog"
)

// History is the status history of a proposal, newest first.
type History struct {
	ID        string   `json:"id"`
	Label     string   `json:"label"`
	Title     string   `json:"title"`
	Status    string   `json:"status" doc:"current status"`
	StatusRaw string   `json:"status_raw" doc:"as the network spells it"`
	Items     []Change `json:"items"`
	Total     int      `json:"total"`
	URL       string   `json:"url,omitempty"`
}

// Change is one dated change of status.
type Change struct {
	At      time.Time `json:"at"`
	From    *string   `json:"from" doc:"null for the first"`
	To      string    `json:"to"`
	RawFrom string    `json:"raw_from" doc:"as the source spelt it"`
	RawTo   string    `json:"raw_to"`
	Via     string    `json:"via" enum:"header,index" doc:"header of the proposal, or the repository's index table"`
	Commit  string    `json:"commit,omitempty"`
	Subject string    `json:"subject,omitempty" doc:"of the commit"`
	URL     string    `json:"url,omitempty"`
}

var history = kb.New(op.Spec{
	ID: "get_cip_history", Path: "/api/v1/cips/{id}/history", Tool: "get_cip_history", MayFail: notFound,
	Kinds: []catalog.Kind{catalog.KindCIP},
	Doc: `
Status history of a proposal
Dated status changes of one proposal, newest first.

Lists every dated status change of one improvement proposal, newest first, with the raw words and the commit.
`,
}, runHistory)

func runHistory(ctx context.Context, b kb.Base, in idIn) (History, error) {
	ref, err := b.CIPRef(in.ID)
	if err != nil {
		return History{}, err
	}
	r, missing := b.CIPHead(ctx, in.ID)
	if missing != nil && !isNotFound(missing) {
		return History{}, missing
	}
	if missing == nil {
		ref = r.Ref() // of a merged draft: the proposal it became
	}
	events, err := b.Catalog.Events(ctx, catalog.EventQuery{Ref: ref, Field: "status"})
	if err != nil {
		return History{}, err
	}
	id := b.Network.Proposals.ID(ref.Key)
	h := History{ID: id, Label: ref.Key, Title: r.Title, Status: r.State, StatusRaw: kb.StatusRaw(r), Total: len(events)}
	switch {
	case missing == nil:
		h.URL = b.URL(r)
	case len(events) == 0:
		return History{}, missing
	default: // a proposal without a file is known by its events only
		h.Status, h.StatusRaw, h.URL = events[0].To, events[0].RawTo, events[0].URL
	}
	h.Items = changes(events)
	return h, nil
}

func changes(events []catalog.Event) []Change {
	var out []Change
	for _, e := range events {
		c := Change{
			At: e.At.UTC(), To: e.To, RawFrom: e.RawFrom, RawTo: e.RawTo,
			Via: e.Via, Commit: e.Commit, Subject: e.Subject, URL: e.URL,
		}
		if e.From != "" {
			c.From = &e.From
		}
		out = append(out, c)
	}
	return out
}

type implementationIn struct {
	ID arg.CIPID `json:"cip_number" required:"true" doc:"{{label}}, {{short}}, or PR-203 for a draft"`
}

// Implementation is what tracks a proposal.
type Implementation struct {
	ID        string   `json:"id"`
	Title     string   `json:"title"`
	Status    string   `json:"status"`
	StatusRaw string   `json:"status_raw" doc:"as the network spells it"`
	URL       string   `json:"url"`
	Verdict   string   `json:"verdict" enum:"released,in_progress,funded,untracked"`
	Changes   []Change `json:"changes" doc:"of status, newest first"`
	evidence.Grounds
}

var implementation = kb.New(op.Spec{
	ID: "get_cip_implementation_status", Tool: "get_cip_implementation_status", MayFail: notFound,
	Kinds: []catalog.Kind{catalog.KindCIP},
	Doc: `
Is a proposal implemented
Whether code or grants track a proposal.

Says whether code or grants track an improvement proposal: releases, pull requests, grants, projects and status
changes. For everything that names it use get_cip_mentions.
`,
}, runImplementation)

func runImplementation(ctx context.Context, b kb.Base, in implementationIn) (Implementation, error) {
	r, linked, err := linkedTo(ctx, b, in.ID)
	if err != nil {
		return Implementation{}, err
	}
	events, err := b.Catalog.Events(ctx, catalog.EventQuery{Ref: r.Ref(), Field: "status"})
	out := Implementation{ID: b.ID(r), Title: r.Title, Status: r.State, StatusRaw: kb.StatusRaw(r), URL: b.URL(r),
		Changes: changes(events)}
	verdict, tracked := implementationOf(linked)
	out.Verdict = verdict
	out.Evidence = evidence.Of(b, tracked)
	out.Method = fmt.Sprintf("Links to %s of releases, pull requests, issues, grants, projects and repositories; "+
		"the strongest kind that has one is the verdict.", r.Key)
	return out, err
}

// tracking are the kinds that show work on a proposal, with the verdict and the
// weight of each.
var tracking = []struct {
	kind    catalog.Kind
	verdict string
	weight  float64
	why     string
}{
	{catalog.KindRelease, "released", 1, "a release names it"},
	{catalog.KindPull, "in_progress", 0.8, "a pull request names it"},
	{catalog.KindIssue, "in_progress", 0.5, "an issue names it"},
	{catalog.KindGrant, "funded", 0.6, "a grant proposal names it"},
	{catalog.KindProject, "in_progress", 0.4, "a project names it"},
	{catalog.KindRepo, "in_progress", 0.4, "a repository names it"},
}

// implementsWeight is the weight of an explicit implements link of any kind.
const implementsWeight = 1

// implementationOf returns the records that show work on the proposal they refer
// to, and what they say of it: the first kind that has any decides, untracked if
// none has.
func implementationOf(linked []kb.Linked) (verdict string, tracked []evidence.Proof) {
	for _, kind := range tracking {
		for _, l := range linked {
			if l.Record.Kind != kind.kind {
				continue
			}
			t := evidence.Proof{Record: l.Record, Why: kind.why, Snippet: l.Link.Snippet, Weight: kind.weight}
			if l.Link.Relation == catalog.Implements {
				t.Why, t.Weight = "it says that it implements the proposal", implementsWeight
			}
			tracked = append(tracked, t)
			verdict = cmp.Or(verdict, kind.verdict)
		}
	}
	return cmp.Or(verdict, "untracked"), tracked
}
