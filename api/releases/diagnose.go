package releases

import (
	"context"
	"slices"
	"strings"

	"almanac/api/kb"
	"almanac/api/kb/evidence"
	"almanac/api/kb/find"
	"almanac/api/op"
	"almanac/catalog"
)

// Diagnosis is what explains an error.
type Diagnosis struct {
	Searched    string   `json:"searched" doc:"what is left of the text without frames, times and paths"`
	Identifiers []string `json:"identifiers" doc:"error codes and names in it"`
	Total       int      `json:"total" doc:"number of records found"`
	Degraded    []string `json:"degraded,omitempty" doc:"parts of the search that did not answer"`
	Hint        string   `json:"hint,omitempty" doc:"if nothing was found: what to try"`
	evidence.Grounds
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
	out := Diagnosis{Grounds: evidence.Grounds{
		Method: "Frames, times and paths are cut from the text, and what is left is searched for by words and meaning; " +
			"the weight is the score of the search, relative to the best, and half of it without any of the identifiers.",
	}}
	out.Searched, out.Identifiers = errorText(in.Text)
	s := find.Search{
		Field: "error_text", Query: out.Searched, Plain: true, Kinds: explainingKinds(), Limit: explanations,
		Bodies: true,
	}
	found, err := s.Run(ctx, b)
	if err != nil {
		return out, err
	}
	out.Total, out.Degraded, out.Hint = found.Total, found.Degraded, found.Hint
	out.Evidence = evidence.Of(b, explain(found.Items, out.Identifiers))
	return out, err
})

// explaining are the kinds of records that explain errors, as answers name them.
var explaining = map[catalog.Kind]string{
	catalog.KindIssue: "issue", catalog.KindPull: "pull request", catalog.KindDiscussion: "discussion on the forge",
	catalog.KindComment: "comment on the forge", catalog.KindDoc: "documentation", catalog.KindFAQ: "answer of the FAQ",
	catalog.KindRelease: "release note", catalog.KindRadar: "known change or flaw", catalog.KindTopic: "forum thread",
	catalog.KindPost: "forum post", catalog.KindMailMessage: "mail", catalog.KindAPIReference: "API reference",
	catalog.KindDeprecation: "item of the toolchain",
}

// explainingKinds are the kinds of records that explain errors, in the
// catalog's order.
func explainingKinds() (kinds []catalog.Kind) {
	for _, info := range catalog.Kinds {
		if explaining[info.Kind] != "" {
			kinds = append(kinds, info.Kind)
		}
	}
	return kinds
}

// explain says of each record that was found for an error, with its body,
// what it is and which of the error's identifiers it names. It weighs as much
// as it is relevant, and half of that if it names none of them.
func explain(found []find.Match, identifiers []string) (out []evidence.Proof) {
	for _, m := range found {
		r := m.Record
		p := evidence.Proof{Record: r, Snippet: m.Result.Snippet, Weight: m.Relevance}
		named := slices.DeleteFunc(slices.Clone(identifiers), func(id string) bool {
			return !strings.Contains(r.Title+"\n"+r.Body, id)
		})
		p.Why = strings.TrimSpace(r.State + " " + explaining[r.Kind])
		switch {
		case len(named) > 0:
			p.Why += " that names " + strings.Join(named, ", ")
		case len(identifiers) > 0:
			p.Weight /= 2
			fallthrough
		default:
			p.Why += " that is near in words or meaning"
		}
		out = append(out, p)
	}
	return out
}
