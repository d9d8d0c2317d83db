package releases

import (
	"slices"
	"strings"

	"almanac/api/kb"
	"almanac/catalog"
)

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
func explain(hits []kb.Scored, identifiers []string) (out []kb.Proof) {
	for _, h := range hits {
		r := h.Record
		p := kb.Proof{Record: r, Snippet: h.Snippet, Weight: h.Relevance}
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
