package cips

import (
	"cmp"

	"almanac/api/kb"
	"almanac/catalog"
)

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
func implementationOf(linked []kb.Linked) (verdict string, tracked []kb.Proof) {
	for _, kind := range tracking {
		for _, l := range linked {
			if l.Record.Kind != kind.kind {
				continue
			}
			t := kb.Proof{Record: l.Record, Why: kind.why, Snippet: l.Link.Snippet, Weight: kind.weight}
			if l.Link.Relation == catalog.Implements {
				t.Why, t.Weight = "it says that it implements the proposal", implementsWeight
			}
			tracked = append(tracked, t)
			verdict = cmp.Or(verdict, kind.verdict)
		}
	}
	return cmp.Or(verdict, "untracked"), tracked
}
