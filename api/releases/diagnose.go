package releases

import (
	"context"

	"almanac/api/kb"
	"almanac/api/op"
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
	out.Searched, out.Identifiers = errorText(in.Text)
	s := kb.Search{
		Field: "error_text", Query: out.Searched, Plain: true, Kinds: explainingKinds(), Limit: explanations,
	}
	found, err := b.Matches(ctx, s)
	if err != nil {
		return out, err
	}
	texts, err := b.Texts(ctx, found.Items)
	out.Total, out.Degraded, out.Hint = found.Total, found.Degraded, found.Hint
	out.Evidence = b.Proofs(explain(kb.Hits(texts), out.Identifiers))
	return out, err
})
