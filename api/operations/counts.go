package operations

import "almanac/catalog"

// Counts counts what a catalog holds.
type Counts struct {
	CIPs             ProposalCounts `json:"cips"`
	ForumTopics      int            `json:"forum_topics"`
	ForumPosts       int            `json:"forum_posts"`
	ForgeIssues      int            `json:"forge_issues"`
	ForgePulls       int            `json:"forge_pulls"`
	ForgeDiscussions int            `json:"forge_discussions"`
	Proposals        GrantCounts    `json:"grant_proposals"`
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

// ProposalCounts counts improvement proposals; drafts are open pull requests.
type ProposalCounts struct {
	Total    int            `json:"total"`
	InReview int            `json:"in_review"`
	Final    int            `json:"final"`
	ByStatus map[string]int `json:"by_status"`
}

// GrantCounts counts grant proposals.
type GrantCounts struct {
	Total  int `json:"total"`
	Open   int `json:"open"`
	Closed int `json:"closed"`
}

// countContents adds up the counts of a catalog.
func countContents(counts []catalog.Count) Counts {
	out := Counts{ByKind: map[string]int{}, CIPs: ProposalCounts{ByStatus: map[string]int{}}}
	for _, c := range counts {
		out.Total += c.N
		out.ByKind[string(c.Kind)] += c.N
		switch {
		case c.Kind == catalog.KindCIP:
			out.CIPs.Total += c.N
			out.CIPs.ByStatus[c.State] += c.N
		case c.Kind == catalog.KindGrant && c.TopLevel: // others are further files of a proposal
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
		catalog.KindTopic: &out.ForumTopics, catalog.KindPost: &out.ForumPosts,
		catalog.KindIssue: &out.ForgeIssues, catalog.KindPull: &out.ForgePulls,
		catalog.KindDiscussion: &out.ForgeDiscussions, catalog.KindDoc: &out.DocPages,
		catalog.KindRelease: &out.Releases, catalog.KindVideo: &out.Videos, catalog.KindBlog: &out.BlogPosts,
		catalog.KindMailThread: &out.MailThreads, catalog.KindMailMessage: &out.MailMessages,
		catalog.KindWhitepaper: &out.Whitepapers, catalog.KindRadar: &out.RadarItems,
	} {
		*to = out.ByKind[string(kind)]
	}
	return out
}
