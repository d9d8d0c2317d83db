// Package operations holds the operations on the network as it runs: its
// state, market, schedule, deployments, validators and applications, and the
// size of the knowledge base.
package operations

import (
	"context"

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
