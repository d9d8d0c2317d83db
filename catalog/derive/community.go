package derive

import (
	"maps"
	"slices"

	"almanac/catalog"
)

// Community is how much of what the community says is indexed.
type Community struct {
	Topics      int           `json:"forum_topics"`
	Posts       int           `json:"forum_posts"`
	Discussions int           `json:"forge_discussions"`
	Lists       []MailingList `json:"mailing_lists"` // by group
}

// MailingList is what is indexed of a mailing list.
type MailingList struct {
	Group    string `json:"group"`
	Threads  int    `json:"threads"`
	Messages int    `json:"messages"`
}

// CountCommunity sums the catalog's counts.
func CountCommunity(counts []catalog.Count) (out Community) {
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
	return out
}
