package devfund

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"almanac/api/kb"
	"almanac/api/kb/evidence"
	"almanac/api/kb/find"
	"almanac/api/op"
	"almanac/catalog"
	"almanac/text/prose"
)

// Overlap is what an idea overlaps with.
type Overlap struct {
	Idea     string   `json:"idea"`
	Projects int      `json:"projects" doc:"how many of the evidence are projects"`
	Grants   int      `json:"grants" doc:"how many are grant proposals"`
	Degraded []string `json:"degraded,omitempty" doc:"parts of the search that did not answer"`
	Hint     string   `json:"hint,omitempty" doc:"if nothing was found: what to try"`
	evidence.Grounds
}

// How much is searched, and how many of each kind are shown.
const (
	overlapRead  = 50
	overlapShown = 5
)

type overlapIn struct {
	Idea string `json:"idea" required:"true" maxLength:"4000" doc:"of a project or a proposal, in your own words"`
}

var unavailable = []error{op.ErrUnavailable}

var overlap = kb.New(op.Spec{
	ID: "detect_builder_overlap", Tool: "detect_builder_overlap", MayFail: unavailable,
	Kinds: []catalog.Kind{catalog.KindProject, catalog.KindGrant},
	Doc: `
Who builds something similar
Ecosystem projects and grant proposals like an idea, with what they share.

Finds the ecosystem projects and grant proposals most like an idea, with what they share. To check a draft's text use
proposal_success_predictor.
`,
}, runOverlap)

func runOverlap(ctx context.Context, b kb.Base, in overlapIn) (Overlap, error) {
	search := find.Search{
		Field: "idea", Query: in.Idea, Plain: true, Limit: overlapRead,
		Kinds: []catalog.Kind{catalog.KindProject, catalog.KindGrant},
	}
	found, err := find.Rows(ctx, b, search, similar)
	out := Overlap{Idea: prose.First(in.Idea, 200), Degraded: found.Degraded, Hint: found.Hint}
	out.Method = "One search over projects and grant proposals; a weight is a result's share in the scores of those shown."
	shown := map[string]int{}
	for _, e := range found.Items {
		if e.Kind != "" && shown[e.Kind] < overlapShown {
			shown[e.Kind]++
			out.Evidence = append(out.Evidence, e)
		}
	}
	evidence.Weigh(out.Evidence)
	out.Projects, out.Grants = shown[string(catalog.KindProject)], shown[string(catalog.KindGrant)]
	return out, err
}

// similar makes the evidence of a result, its score as the weight; without a
// kind for a further file of a grant proposal.
func similar(b kb.Base, m find.Match) (evidence.Row, error) {
	if m.Record.Parent != 0 {
		return evidence.Row{}, nil
	}
	e := evidence.Row{Item: b.Item(m.Record), Why: shared(m), Snippet: m.Result.Snippet, Weight: m.Result.Score}
	if m.Record.Kind != catalog.KindGrant {
		return e, nil
	}
	d, err := kb.Decode[catalog.Grant](m.Record)
	e.State = d.Outcome(m.Record.State)
	return e, err
}

// sharedWords bounds the words of a reason.
const sharedWords = 8

// shared says which words of the query are in the title and the passage of a
// result, as written there, the longest first: they tell more.
func shared(m find.Match) string {
	var words []string
	add := func(text string, spans [][2]int) {
		for _, s := range spans {
			words = append(words, strings.ToLower(text[s[0]:s[1]]))
		}
	}
	add(m.Result.Title, m.Result.TitleSpans)
	add(m.Result.Snippet, m.Result.SnippetSpans)
	slices.Sort(words)
	words = slices.Compact(words)
	slices.SortStableFunc(words, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	if len(words) == 0 {
		return "close in meaning, no word in common"
	}
	return "shares " + strings.Join(words[:min(sharedWords, len(words))], ", ")
}
