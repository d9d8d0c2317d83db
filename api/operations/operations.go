// Package operations holds the operations on the network as it runs: its
// state, its market, and the size of the knowledge base.
package operations

import (
	"context"

	"almanac/api/kb"
	"almanac/api/op"
	"almanac/catalog"
)

// Operations are those of the group, in the order clients see them.
var Operations = []kb.Op{
	stats, network, networkHistory, market, marketHistory, upcomingOperations, schedule, deadlines, calendar,
	apps, appMetrics, supplies, pools, contents, deployments, getValidator, fleet,
}

var stats = kb.New(op.Spec{
	ID: "get_network_stats", Tool: "get_network_stats",
	Doc: `
What is indexed
Counts of indexed content.

Counts what the knowledge base holds: proposals by status, forum, mail, forge, grants, documentation, videos,
posts and radar items.
`,
}, runStats)

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

func runStats(ctx context.Context, b kb.Base, _ struct{}) (Stats, error) {
	counts, err := b.Counts(ctx)
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
		catalog.KindTopic: &out.ForumTopics, catalog.KindPost: &out.ForumPosts,
		catalog.KindIssue: &out.ForgeIssues, catalog.KindPull: &out.ForgePulls,
		catalog.KindDiscussion: &out.ForgeDiscussions, catalog.KindDoc: &out.DocPages,
		catalog.KindRelease: &out.Releases, catalog.KindVideo: &out.Videos, catalog.KindBlog: &out.BlogPosts,
		catalog.KindMailThread: &out.MailThreads, catalog.KindMailMessage: &out.MailMessages,
		catalog.KindWhitepaper: &out.Whitepapers, catalog.KindRadar: &out.RadarItems,
	} {
		*to = out.ByKind[string(kind)]
	}
	return out, err
}

var notFound = []error{op.ErrNotFound}

var network = kb.New(op.Spec{
	ID: "get_network_state", Path: "/api/v1/network", Tool: "get_network_state",
	Doc: `
State of the network
The latest on-chain snapshot.

Returns the latest on-chain snapshot: validators, voting threshold, sequencers, latest round, featured apps and
rewards. captured_at says how old it is.
`,
}, kb.Latest(catalog.SeriesNetwork, networkRow))

var networkHistory = kb.New(op.Spec{
	ID: "get_network_history", Path: "/api/v1/network/history", Doc: "On-chain snapshots over time, newest first.",
}, kb.HistoryOf[networkHistoryIn](catalog.SeriesNetwork, networkRow))

type networkHistoryIn struct {
	Limit int `json:"limit" default:"200" minimum:"1" maximum:"1000" doc:"how many to return"`
}

func (in networkHistoryIn) Most() int { return in.Limit }

// NetworkSnapshot is the state of the network at a time.
type NetworkSnapshot struct {
	kb.Captured
	catalog.NetworkState
}

func networkRow(c kb.Captured, state catalog.NetworkState) NetworkSnapshot {
	return NetworkSnapshot{c, state}
}

// MarketSnapshot is the state of the coin's market at a time.
type MarketSnapshot struct {
	kb.Captured
	catalog.MarketState
}

func marketRow(c kb.Captured, state catalog.MarketState) MarketSnapshot {
	return MarketSnapshot{c, state}
}

var market = kb.New(op.Spec{
	ID: "get_token_market", Path: "/api/v1/market", Tool: "get_token_market",
	Doc: `
Market of the coin
The latest market snapshot: price, market capitalisation, value locked.

Returns the latest cached market snapshot of the native coin only: price, 24 h change, market capitalisation,
volume and value locked by protocol. captured_at says how old it is.
`,
}, kb.Latest(catalog.SeriesMarket, marketRow))

type marketHistoryIn struct {
	Limit int `json:"limit" default:"96" minimum:"1" maximum:"1000" doc:"how many to return"`
}

func (in marketHistoryIn) Most() int { return in.Limit }

var marketHistory = kb.New(op.Spec{
	ID: "get_market_history", Path: "/api/v1/market/history", Doc: "Market snapshots over time, newest first.",
}, kb.HistoryOf[marketHistoryIn](catalog.SeriesMarket, marketRow))
