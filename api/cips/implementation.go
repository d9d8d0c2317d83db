package cips

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"almanac/api/kb"
	"almanac/api/op"
	"almanac/catalog"
)

var implementationSpec = op.Spec{
	ID: "get_cip_implementation_status", Tool: "get_cip_implementation_status",
	Title: "Is a proposal implemented", MayFail: notFound,
	Summary: "Whether code or grants track a proposal.",
	Description: "Says whether code or grants track an improvement proposal: releases, pull requests, grant proposals and " +
		"projects that refer to it, and its status changes. For everything that names it use get_cip_mentions.",
}

type implementationIn struct {
	ID kb.CIPID `json:"cip_number" required:"true" doc:"{{label}}, {{short}}, or PR-203 for a draft"`
}

// Implementation is what tracks a proposal.
type Implementation struct {
	ID      string   `json:"id"`
	Title   string   `json:"title"`
	Status  string   `json:"status"`
	URL     string   `json:"url"`
	Verdict string   `json:"verdict" enum:"released,in_progress,funded,untracked"`
	Changes []Change `json:"changes" doc:"of status, newest first"`
	kb.Grounds
}

// tracking are the kinds that show work on a proposal, with what one of them
// proves and how heavily.
var tracking = []struct {
	kind    catalog.Kind
	verdict string
	weight  float64
	why     string
}{
	{catalog.KindRelease, "released", 1, "a release names it"},
	{catalog.KindPull, "in_progress", 0.8, "a pull request names it"},
	{catalog.KindIssue, "in_progress", 0.5, "an issue names it"},
	{catalog.KindProposal, "funded", 0.6, "a grant proposal names it"},
	{catalog.KindProject, "in_progress", 0.4, "a project names it"},
	{catalog.KindRepo, "in_progress", 0.4, "a repository names it"},
}

// implementsWeight is that of a link which says so, whatever the kind.
const implementsWeight = 1

func (s service) implementation(ctx context.Context, in implementationIn) (Implementation, error) {
	r, err := s.CIPHead(ctx, in.ID)
	if err != nil {
		return Implementation{}, err
	}
	linked, err := s.Linked(ctx, r)
	if err != nil {
		return Implementation{}, err
	}
	events, err := s.Catalog.Events(ctx, catalog.EventQuery{Ref: r.Ref(), Field: "status"})
	out := Implementation{ID: s.ID(r), Title: r.Title, Status: r.State, URL: s.URL(r), Verdict: "untracked"}
	for _, e := range events {
		out.Changes = append(out.Changes, change(e))
	}
	for _, t := range tracking { // the first kind that has any decides
		for _, l := range linked {
			if l.Record.Kind != t.kind {
				continue
			}
			e := kb.Evidence{Item: s.Item(l.Record), Why: t.why, Snippet: l.Link.Snippet, Weight: t.weight}
			if l.Link.Relation == catalog.Implements {
				e.Why, e.Weight = "it says that it implements the proposal", implementsWeight
			}
			out.Evidence = append(out.Evidence, e)
			if out.Verdict == "untracked" {
				out.Verdict = t.verdict
			}
		}
	}
	slices.SortStableFunc(out.Evidence, func(a, b kb.Evidence) int { return cmp.Compare(b.Weight, a.Weight) })
	out.Method = fmt.Sprintf("Links to %s of releases, pull requests, issues, grants, projects and repositories; "+
		"the strongest kind that has one is the verdict.", r.Key)
	return out, err
}
