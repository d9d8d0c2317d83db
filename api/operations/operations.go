// Package operations holds the operations on the network as it runs: its
// state, market, schedule, deployments, validators and applications, and the
// size of the knowledge base.
package operations

import (
	"context"
	"time"

	"almanac/api/kb"
	"almanac/api/op"
	"almanac/catalog"
)

// Operations are those of the group, in the order clients see them.
var Operations = []kb.Op{
	stats, networkState, networkHistory, market, marketHistory, upcomingOperations, schedule, deadlines, calendar,
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
}, func(ctx context.Context, b kb.Base, _ struct{}) (Counts, error) {
	counts, err := b.Counts(ctx)
	return countContents(counts), err
})

var notFound = []error{op.ErrNotFound}

var networkState = kb.New(op.Spec{
	ID: "get_network_state", Path: "/api/v1/network", Tool: "get_network_state",
	Kinds: []catalog.Kind{catalog.KindValidator, catalog.KindVoteRequest},
	Doc: `
State of the network
The latest on-chain snapshot.

Returns the latest on-chain snapshot: validators, voting threshold, sequencers, latest round, featured apps and
rewards. captured_at says how old it is.
`,
}, latest(catalog.SeriesNetwork, networkRow))

var networkHistory = kb.New(op.Spec{
	ID: "get_network_history", Path: "/api/v1/network/history", Doc: "On-chain snapshots over time, newest first.",
}, func(ctx context.Context, b kb.Base, in networkHistoryIn) (History[NetworkSnapshot], error) {
	return history(ctx, b, catalog.SeriesNetwork, in.Limit, networkRow)
})

type networkHistoryIn struct {
	Limit int `json:"limit" default:"200" minimum:"1" maximum:"1000" doc:"how many to return"`
}

// NetworkSnapshot is the state of the network at a time.
type NetworkSnapshot struct {
	Captured
	catalog.NetworkState
}

func networkRow(c Captured, state catalog.NetworkState) NetworkSnapshot {
	return NetworkSnapshot{c, state}
}

// MarketSnapshot is the state of the coin's market at a time.
type MarketSnapshot struct {
	Captured
	catalog.MarketState
}

func marketRow(c Captured, state catalog.MarketState) MarketSnapshot {
	return MarketSnapshot{c, state}
}

var market = kb.New(op.Spec{
	ID: "get_token_market", Path: "/api/v1/market", Tool: "get_token_market",
	Kinds: []catalog.Kind{catalog.KindAsset, catalog.KindPool},
	Doc: `
Market of the coin
The latest market snapshot: price, market capitalisation, value locked.

Returns the latest cached market snapshot of the native coin only: price, 24 h change, market capitalisation,
volume and value locked by protocol. captured_at says how old it is.
`,
}, latest(catalog.SeriesMarket, marketRow))

type marketHistoryIn struct {
	Limit int `json:"limit" default:"96" minimum:"1" maximum:"1000" doc:"how many to return"`
}

var marketHistory = kb.New(op.Spec{
	ID: "get_market_history", Path: "/api/v1/market/history", Doc: "Market snapshots over time, newest first.",
}, func(ctx context.Context, b kb.Base, in marketHistoryIn) (History[MarketSnapshot], error) {
	return history(ctx, b, catalog.SeriesMarket, in.Limit, marketRow)
})

// Captured is the part of a snapshot's row that says when it was captured.
type Captured struct {
	CapturedAt *time.Time `json:"captured_at" doc:"null if there is no snapshot"`
	Hint       string     `json:"hint,omitempty" doc:"if there is no snapshot: why"`
}

// latest returns the newest snapshot of a series as its row; if there is none,
// the row of the zero state.
func latest[T, R any](
	series string, row func(c Captured, state T) R,
) func(context.Context, kb.Base, struct{}) (R, error) {
	return func(ctx context.Context, b kb.Base, _ struct{}) (R, error) {
		state, at, err := kb.Newest[T](ctx, b, series)
		if state == nil {
			return row(Captured{Hint: "there is no snapshot of the " + series +
				": this network has no source for it, or none has run yet"}, *new(T)), err
		}
		return row(Captured{CapturedAt: &at}, *state), err
	}
}

// History is a series in an answer.
type History[R any] struct {
	Items []R        `json:"items" doc:"newest first"`
	Total int        `json:"total"`
	Limit int        `json:"limit"`
	AsOf  *time.Time `json:"as_of" doc:"time of the newest; null if there is none"`
}

// history returns the newest snapshots of a series, each as its row.
func history[T, R any](
	ctx context.Context, b kb.Base, series string, limit int, row func(c Captured, state T) R,
) (History[R], error) {
	all, err := b.Catalog.Snapshots(ctx, series, limit)
	out := History[R]{Items: make([]R, len(all)), Total: len(all), Limit: limit}
	for i, s := range all {
		state, bad := kb.StateOf[T](s)
		if bad != nil {
			return History[R]{}, bad
		}
		at := kb.Time(s.CapturedAt)
		if i == 0 {
			out.AsOf = at
		}
		out.Items[i] = row(Captured{CapturedAt: at}, state)
	}
	return out, err
}

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
