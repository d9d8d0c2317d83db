package operations

import (
	"context"
	"time"

	"almanac/api/kb"
	"almanac/api/op"
	"almanac/catalog"
)

// Contents are the daily statistics of the content.
type Contents struct {
	AsOf    *time.Time         `json:"as_of" doc:"day of the latest statistics"`
	Latest  ContentsSnapshot   `json:"latest"`
	History []ContentsSnapshot `json:"history" doc:"newest first, the latest included"`
	Total   int                `json:"total" doc:"number of snapshots"`
}

// Head says how many there are in all.
func (c Contents) Head() (total int, hint string) { return c.Total, "" }

// ContentsSnapshot is what the knowledge base held on a day.
type ContentsSnapshot struct {
	Captured
	catalog.Stats
}

// lastDays is how many snapshots are returned: one a day.
const lastDays = 90

// statsRetry is the wait for the first statistics, which follow the first sync.
const statsRetry = 30 * time.Second

var contents = kb.New(op.Spec{
	ID: "get_stats", Path: "/api/v1/stats", MayFail: []error{op.ErrUnavailable},
	Doc: `
What is indexed, day by day: the latest statistics and their history.

Returns the statistics of the latest day and of up to 90 days. For the counts of this moment use get_network_stats.
`,
}, func(ctx context.Context, b kb.Base, _ struct{}) (Contents, error) {
	h, err := history(ctx, b, catalog.SeriesStats, lastDays, contentsRow)
	if err == nil && h.Total == 0 {
		err = op.Unavailable(statsRetry, "there is no snapshot of the statistics yet: the first follows the first sync")
	}
	if err != nil {
		return Contents{}, err
	}
	return Contents{h.AsOf, h.Items[0], h.Items, h.Total}, nil
})

func contentsRow(c Captured, s catalog.Stats) ContentsSnapshot { return ContentsSnapshot{c, s} }

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
