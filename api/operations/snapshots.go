package operations

import (
	"context"
	"time"

	"almanac/api/kb"
	"almanac/api/op"
	"almanac/catalog"
)

var unavailable = []error{op.ErrUnavailable}

var networkSpec = op.Spec{
	ID: "get_network_state", Path: "/api/v1/network", Tool: "get_network_state", Title: "State of the network",
	MayFail: unavailable,
	Summary: "The latest on-chain snapshot.",
	Description: "Returns the latest on-chain snapshot: validators, voting threshold, sequencers, latest round, " +
		"featured apps and rewards. captured_at says how old it is.",
}

var networkHistorySpec = op.Spec{
	ID: "get_network_history", Path: "/api/v1/network/history", Summary: "On-chain snapshots over time, newest first.",
}

// NetworkSnapshot is the state of the network at a time.
type NetworkSnapshot struct {
	CapturedAt time.Time `json:"captured_at"`
	catalog.NetworkState
}

type networkHistoryIn struct {
	Limit int `json:"limit" default:"200" minimum:"1" maximum:"1000" doc:"how many to return"`
}

func networkRow(at time.Time, state catalog.NetworkState) NetworkSnapshot {
	return NetworkSnapshot{at, state}
}

func (s service) network(ctx context.Context, _ struct{}) (NetworkSnapshot, error) {
	return kb.Latest(ctx, s.Base, catalog.SeriesNetwork, networkRow)
}

func (s service) networkHistory(ctx context.Context, in networkHistoryIn) (kb.History[NetworkSnapshot], error) {
	return kb.HistoryOf(ctx, s.Base, catalog.SeriesNetwork, in.Limit, networkRow)
}

var marketSpec = op.Spec{
	ID: "get_token_market", Path: "/api/v1/market", Tool: "get_token_market", Title: "Market of the coin",
	MayFail: unavailable,
	Summary: "The latest market snapshot: price, market capitalisation, value locked.",
	Description: "Returns the latest cached market snapshot of the native coin only: price, 24 h change, market " +
		"capitalisation, volume and value locked by protocol. captured_at says how old it is.",
}

var marketHistorySpec = op.Spec{
	ID: "get_market_history", Path: "/api/v1/market/history", Summary: "Market snapshots over time, newest first.",
}

// MarketSnapshot is the state of the coin's market at a time.
type MarketSnapshot struct {
	CapturedAt time.Time `json:"captured_at"`
	catalog.MarketState
}

type marketHistoryIn struct {
	Limit int `json:"limit" default:"96" minimum:"1" maximum:"1000" doc:"how many to return"`
}

func marketRow(at time.Time, state catalog.MarketState) MarketSnapshot {
	return MarketSnapshot{at, state}
}

func (s service) market(ctx context.Context, _ struct{}) (MarketSnapshot, error) {
	return kb.Latest(ctx, s.Base, catalog.SeriesMarket, marketRow)
}

func (s service) marketHistory(ctx context.Context, in marketHistoryIn) (kb.History[MarketSnapshot], error) {
	return kb.HistoryOf(ctx, s.Base, catalog.SeriesMarket, in.Limit, marketRow)
}
