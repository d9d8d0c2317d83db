package operations

import (
	"context"

	"almanac/api/op"
	"almanac/catalog"
)

var statsSpec = op.Spec{
	ID: "get_network_stats", Tool: "get_network_stats", Title: "What is indexed",
	Summary: "Counts of indexed content.",
	Description: "Counts what the knowledge base holds: proposals by status, forum, mail, forge, grants, documentation, " +
		"videos, posts and radar items.",
}

// Stats counts indexed content.
type Stats struct {
	CIPs             CIPStats       `json:"cips"`
	ForumTopics      int            `json:"forum_topics"`
	ForumPosts       int            `json:"forum_posts"`
	ForgeIssues      int            `json:"forge_issues"`
	ForgePulls       int            `json:"forge_pulls"`
	ForgeDiscussions int            `json:"forge_discussions"`
	Proposals        ProposalStats  `json:"grant_proposals"`
	DocPages         int            `json:"doc_pages"`
	Releases         int            `json:"releases"`
	Videos           int            `json:"videos"`
	BlogPosts        int            `json:"blog_posts"`
	MailThreads      int            `json:"mailing_threads"`
	MailMessages     int            `json:"mailing_messages"`
	Whitepapers      int            `json:"whitepapers"`
	RadarItems       int            `json:"radar_items"`
	Total            int            `json:"total_records"`
	ByKind           map[string]int `json:"by_kind"`
}

// CIPStats counts improvement proposals; drafts are open pull requests.
type CIPStats struct {
	Total    int            `json:"total"`
	InReview int            `json:"in_review"`
	Final    int            `json:"final"`
	ByStatus map[string]int `json:"by_status"`
}

// ProposalStats counts grant proposals.
type ProposalStats struct {
	Total  int `json:"total"`
	Open   int `json:"open"`
	Closed int `json:"closed"`
}

func (s service) stats(ctx context.Context, _ struct{}) (Stats, error) {
	counts, err := s.Catalog.Counts(ctx)
	out := Stats{ByKind: map[string]int{}, CIPs: CIPStats{ByStatus: map[string]int{}}}
	for _, c := range counts {
		out.Total += c.N
		out.ByKind[string(c.Kind)] += c.N
		switch {
		case c.Kind == catalog.KindCIP:
			out.CIPs.Total += c.N
			out.CIPs.ByStatus[c.State] += c.N
		case c.Kind == catalog.KindProposal && c.TopLevel: // others are further files of a proposal
			out.Proposals.Total += c.N
			if c.State == "open" {
				out.Proposals.Open += c.N
			} else {
				out.Proposals.Closed += c.N
			}
		}
	}
	out.CIPs.InReview, out.CIPs.Final = out.CIPs.ByStatus["Review"], out.CIPs.ByStatus["Final"]
	for kind, to := range map[catalog.Kind]*int{
		catalog.KindTopic: &out.ForumTopics, catalog.KindPost: &out.ForumPosts, catalog.KindIssue: &out.ForgeIssues,
		catalog.KindPull: &out.ForgePulls, catalog.KindDiscussion: &out.ForgeDiscussions, catalog.KindDoc: &out.DocPages,
		catalog.KindRelease: &out.Releases, catalog.KindVideo: &out.Videos, catalog.KindBlog: &out.BlogPosts,
		catalog.KindMailThread: &out.MailThreads, catalog.KindMailMessage: &out.MailMessages,
		catalog.KindWhitepaper: &out.Whitepapers, catalog.KindRadar: &out.RadarItems,
	} {
		*to = out.ByKind[string(kind)]
	}
	return out, err
}
