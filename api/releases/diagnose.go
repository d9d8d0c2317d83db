package releases

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"almanac/api/kb"
	"almanac/api/op"
	"almanac/catalog"
	"almanac/catalog/derive"
)

// Diagnosis is what explains an error.
type Diagnosis struct {
	Searched    string   `json:"searched" doc:"what is left of the text without frames, times and paths"`
	Identifiers []string `json:"identifiers" doc:"error codes and names in it"`
	Total       int      `json:"total" doc:"number of records found"`
	Degraded    []string `json:"degraded,omitempty" doc:"parts of the search that did not answer"`
	Hint        string   `json:"hint,omitempty" doc:"if nothing was found: what to try"`
	kb.Grounds
}

// explaining are the kinds of records that explain errors, as answers name them.
var explaining = map[catalog.Kind]string{
	catalog.KindIssue: "issue", catalog.KindPull: "pull request", catalog.KindDiscussion: "discussion on the forge",
	catalog.KindComment: "comment on the forge", catalog.KindDoc: "documentation", catalog.KindFAQ: "answer of the FAQ",
	catalog.KindRelease: "release note", catalog.KindRadar: "known change or flaw", catalog.KindTopic: "forum thread",
	catalog.KindPost: "forum post", catalog.KindMailMessage: "mail", catalog.KindAPIReference: "API reference",
	catalog.KindDeprecation: "item of the toolchain",
}

// explanations is how many records are returned.
const explanations = 10

type errorIn struct {
	Text string `json:"error_text" required:"true" maxLength:"20000" doc:"message, log lines or stack trace as printed"`
}

var diagnose = kb.New(op.Spec{
	ID: "diagnose_error", Tool: "diagnose_error", Extra: true, MayFail: unavailable,
	Doc: `
Diagnose an error
Known issues, documentation, release notes and answers that explain an error.

Finds the issues, documentation, release notes, frequent questions and forum answers that explain an error message or a
stack trace. For problems described in words use find_known_issues.
`,
}, func(ctx context.Context, b kb.Base, in errorIn) (Diagnosis, error) {
	out := Diagnosis{Grounds: kb.Grounds{
		Method: "Frames, times and paths are cut from the text, and what is left is searched for by words and meaning; " +
			"the weight is the score of the search, relative to the best, and half of it without any of the identifiers.",
	}}
	out.Searched, out.Identifiers = derive.ErrorText(in.Text)
	s := kb.Search{Field: "error_text", Query: out.Searched, Limit: explanations}
	for _, info := range catalog.Kinds {
		if explaining[info.Kind] != "" {
			s.Kinds = append(s.Kinds, info.Kind)
		}
	}
	found, err := kb.FindRows(ctx, b, s, func(_ kb.Base, m kb.Match) (kb.Match, error) { return m, nil })
	if err != nil {
		return out, err
	}
	out.Total, out.Degraded, out.Hint = found.Total, found.Degraded, found.Hint
	for _, m := range found.Items {
		r, err := b.Catalog.ByID(ctx, m.Record.ID) // results come without their texts
		if err != nil {
			return out, err
		}
		e := kb.Evidence{Item: b.Item(r), Snippet: m.Result.Snippet, Weight: 1}
		if best := found.Items[0].Result.Score; best > 0 {
			e.Weight = m.Result.Score / best
		}
		out.explain(&e, r)
		out.Evidence = append(out.Evidence, e)
	}
	slices.SortStableFunc(out.Evidence, func(x, y kb.Evidence) int { return cmp.Compare(y.Weight, x.Weight) })
	return out, nil
})

// explain says what a record is and which of the identifiers it names, and
// weighs it.
func (d Diagnosis) explain(e *kb.Evidence, r catalog.Record) {
	named := slices.DeleteFunc(slices.Clone(d.Identifiers), func(id string) bool {
		return !strings.Contains(r.Title+"\n"+r.Body, id)
	})
	e.Why = strings.TrimSpace(r.State + " " + explaining[r.Kind])
	switch {
	case len(named) > 0:
		e.Why += " that names " + strings.Join(named, ", ")
	case len(d.Identifiers) > 0:
		e.Weight /= 2
		fallthrough
	default:
		e.Why += " that is near in words or meaning"
	}
	e.Weight = kb.Score(e.Weight)
}
