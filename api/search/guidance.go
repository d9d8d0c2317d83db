package search

import (
	"context"
	"fmt"

	"almanac/api/kb"
	"almanac/api/kb/arg"
	"almanac/api/kb/find"
	"almanac/api/op"
	"almanac/catalog"
)

type topicIn struct {
	Topic string `json:"topic" required:"true" maxLength:"1000" doc:"a subject, in your own words"`
	arg.Most
}

// Guidance is what maintainers wrote on a topic.
type Guidance struct {
	Topic       string `json:"topic"`
	Maintainers int    `json:"maintainers" doc:"how many names count as maintainers in all"`
	find.Found[Guide]
	Method string `json:"method"`
}

// Guide is one of their posts or messages.
type Guide struct {
	kb.Item
	Roles    []string `json:"roles,omitempty" doc:"that forum or forge give the author"`
	Share    float64  `json:"share" doc:"of all replies on the forum, or by mail, that the author wrote, 0 to 1"`
	Likes    int64    `json:"likes,omitempty"`
	Accepted bool     `json:"accepted,omitempty" doc:"the accepted answer of its thread"`
	find.Why
}

var guidance = kb.New(op.Spec{
	ID: "find_maintainer_guidance", Tool: "find_maintainer_guidance", MayFail: unavailable, Kinds: guidanceKinds,
	Doc: `
What maintainers say
Forum posts and mail by the most active contributors on a topic.

Finds what maintainers and the most active contributors wrote about a topic on forum and mailing lists. For
everybody's voice use search_community; for who knows most use find_expert.
`,
}, func(ctx context.Context, b kb.Base, in topicIn) (Guidance, error) {
	all := catalog.ListQuery{Kinds: contributionKinds}
	core, _, err := kb.DerivedFrom(ctx, b, "maintainers", 0, all, findCore)
	if err != nil {
		return Guidance{}, err
	}
	search := find.Search{Field: "topic", Query: in.Topic, Kinds: guidanceKinds, Limit: in.Limit}
	search.Filter.Records = find.Among(core.Wrote)
	wrote, err := find.Rows(ctx, b, search, func(b kb.Base, m find.Match) (Guide, error) {
		who := core.People[catalog.Fold(m.Record.Author)]
		g := Guide{
			Item: b.Item(m.Record), Roles: who.Roles, Share: kb.Score(who.Share[m.Record.Kind.Place()]),
			Likes: m.Record.Votes, Why: m.Why(),
		}
		if m.Record.Kind == catalog.KindPost {
			d, err := kb.Decode[catalog.Post](m.Record)
			g.Accepted = d.Accepted
			return g, err
		}
		return g, nil
	})
	return Guidance{in.Topic, core.Number, wrote, fmt.Sprintf(
		"Maintainers are %d of %d names: who has a role on forum or "+
			"forge (staff, member, …), and who together wrote a third of all replies on the forum, by mail or on the forge, "+
			"the most active first.", core.Number, len(core.People))}, err
})

var guidanceKinds = append(catalog.KindsAt(catalog.PlaceForum, catalog.RoleMessage),
	catalog.KindsAt(catalog.PlaceMail, catalog.RoleMessage)...)
