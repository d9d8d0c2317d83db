package community

import (
	"context"
	"maps"
	"slices"

	"almanac/api/kb"
	"almanac/catalog"
	"almanac/catalog/network"
)

// Community is the content of the resource kb://community: where people talk,
// and how much of it is indexed.
type Community struct {
	Places      []network.Place `json:"places" doc:"where people talk"`
	Topics      int             `json:"forum_topics"`
	Posts       int             `json:"forum_posts"`
	Discussions int             `json:"forge_discussions"`
	Lists       []MailingList   `json:"mailing_lists"` // by group
}

// MailingList is what is indexed of a mailing list.
type MailingList struct {
	Group    string `json:"group"`
	Threads  int    `json:"threads"`
	Messages int    `json:"messages"`
}

// CommunityResource returns where people talk, as the network's file says, and how
// much of it is indexed.
func CommunityResource(ctx context.Context, b kb.Base) (any, error) {
	counts, err := b.Counts(ctx)
	out := Community{Places: b.Network.Community}
	lists := map[string]MailingList{}
	for _, c := range counts {
		l := lists[c.Container]
		l.Group = c.Container
		switch c.Kind {
		case catalog.KindTopic:
			out.Topics += c.N
		case catalog.KindPost:
			out.Posts += c.N
		case catalog.KindDiscussion:
			out.Discussions += c.N
		case catalog.KindMailThread:
			l.Threads += c.N
			lists[l.Group] = l
		case catalog.KindMailMessage:
			l.Messages += c.N
			lists[l.Group] = l
		}
	}
	for _, group := range slices.Sorted(maps.Keys(lists)) {
		out.Lists = append(out.Lists, lists[group])
	}
	return out, err
}
