package market_test

import (
	"fmt"
	"net/http"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"almanac/ingest/market"
	"almanac/testing/connectortest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// exchange imitates the APIs that a market is read from.
type exchange struct {
	mu     sync.Mutex
	files  map[string]string // by path
	keys   map[string]string // path → key it was requested with
	server *connectortest.Server
	config connectortest.Config
}

func newExchange(t *testing.T) *exchange {
	x := &exchange{keys: map[string]string{}, files: map[string]string{
		"/prices/simple/price": `{
  "causeway-tally": {"usd": 0.12345678901, "usd_market_cap": 4321987654.25, "usd_24h_vol": 9876543.21, "usd_24h_change": -3.63827, "last_updated_at": 1938078000},
  "shell-dollar": {"usd": 0.9998, "usd_market_cap": 0, "usd_24h_vol": 0, "usd_24h_change": null, "last_updated_at": 1938077990}
}`,
		"/tvl/v2/chains": `[
  {"gecko_id": "otherium", "tvl": 58123456789.12, "tokenSymbol": "OTH", "cmcId": "1", "name": "Otherium", "chainId": 1},
  {"gecko_id": "causeway-tally", "tvl": 7654321.5, "tokenSymbol": "TLY", "cmcId": "2", "name": "Causeway", "chainId": null}
]`,
		"/tvl/protocols": `[
  {"id": "1", "name": "Grand Exchange", "slug": "grand-exchange", "symbol": "-", "category": "CEX", "chains": ["Causeway"], "tvl": 9e9, "chainTvls": {"Causeway": 9000000000}, "change_1d": null, "mcap": null},
  {"id": "2", "name": "Tidepool", "slug": "tidepool", "symbol": "TDP", "category": "Lending", "chains": ["Causeway", "Otherium"], "tvl": 5000000, "chainTvls": {"Causeway": 1500000.25, "Causeway-borrowed": 99, "Otherium": 3499999.75}, "change_1d": 0.4, "mcap": 12},
  {"id": "3", "name": "Lagoon", "slug": "lagoon", "symbol": "-", "category": "Dexs", "chains": ["Causeway"], "tvl": 6000000, "chainTvls": {"Causeway": 6000000, "staking": 3}, "change_1d": -1, "mcap": null},
  {"id": "4", "name": "Elsewhere", "slug": "elsewhere", "symbol": "-", "category": "Dexs", "chains": ["Otherium"], "tvl": 1, "chainTvls": {"Otherium": 1}}
]`,
		"/tvl/tvl/lagoon":   `6000000.5`,
		"/tvl/tvl/tidepool": `5000000`,
		"/lagoon/pools": `{"data": {"updated_at": "2031-06-01T11:00:00.000Z", "pools": [
  {"id": "tly-shl", "token0": {"symbol": "TLY", "decimals": 10}, "token1": {"symbol": "SHL"}, "reserve0": "1000.5", "reserve1": 123.25, "tvlUsd": "246.5", "fee": 30, "apy": 5.25, "volume": 12, "updated_at": 1938078000000},
  {"id": "fsh-shl", "token0": {"symbol": "FSH"}, "token1": {"symbol": "SHL"}, "reserve0": null, "tvlUsd": null, "fee": 5, "apy": null}
]}}`,
		"/yields/pools": `{"status": "success", "data": [
  {"chain": "Causeway", "project": "tidepool", "symbol": "SHL", "tvlUsd": 1500000, "apyBase": 4.1, "apyReward": null, "apy": 4.1, "pool": "747c1d2a-c668-4682-b9f9-296708a3dd90", "volumeUsd1d": null},
  {"chain": "Causeway", "project": "tidepool", "symbol": "TLY-SHL", "tvlUsd": 7, "apy": 0, "pool": "0a1b", "volumeUsd1d": 3},
  {"chain": "Otherium", "project": "tidepool", "symbol": "SHL", "tvlUsd": 2, "apy": 1, "pool": "ffff"}
]}`,
		"/scan/supply": `{"total": "12345678901234567890", "at": "2031-06-01T11:30:00Z"}`,
		"/shell/proof": `{"tokens": [{"symbol": "XXX", "total": 1}, {"symbol": "SHL", "total": "8500000.50", "holders": "not_disclosed"}, {"symbol": "PRL", "total": 42, "holders": 17}]}`,
	}}
	x.server = connectortest.NewServer(t, x)
	url := x.server.URL
	x.config = connectortest.Config{Kind: market.Kind, Options: map[string]any{
		"price": map[string]any{"api": url + "/prices/", "coin": "causeway-tally"},
		"tvl":   map[string]any{"api": url + "/tvl", "chain": "Causeway"},
		"venues": []any{
			map[string]any{
				"name": "lagoon", "title": "Lagoon Exchange", "url": url + "/lagoon/pools",
				"page":  "https://lagoon.example.org/pools/{id}",
				"pools": "data.pools", "as_of": "data.updated_at",
				"fields": map[string]any{
					"id": "id", "base": "token0.symbol", "quote": "token1.symbol", "tvl": "tvlUsd", "fee_rate": "fee",
					"apy": "apy", "volume_24h": "volume", "as_of": "updated_at",
				},
				"reserves": []any{
					map[string]any{"asset": "token0.symbol", "amount": "reserve0"},
					map[string]any{"asset": "token1.symbol", "amount": "reserve1"},
				},
				"divide": map[string]any{"apy": 100, "fee_rate": 10000},
			},
			map[string]any{
				"name": "tidepool", "url": url + "/yields/pools", "pools": "data",
				"where": map[string]any{"chain": "Causeway", "project": "tidepool"},
				"fields": map[string]any{"id": "pool", "pair": "symbol", "tvl": "tvlUsd", "apy": "apy",
					"volume_24h": "volumeUsd1d"}, "divide": map[string]any{"apy": 100},
			},
		},
		"assets": []any{
			map[string]any{"symbol": "TLY", "name": "Tally", "native": true, "decimals": 10,
				"supply": map[string]any{"url": url + "/scan/supply", "path": "total", "as_of": "at", "divide": 1e10}},
			map[string]any{
				"symbol": "SHL", "name": "Shell dollar", "issuer": "Shell Works", "coin": "shell-dollar",
				"description": "A dollar kept in custody.", "page": "https://shell.example.org",
				"supply": map[string]any{"url": url + "/shell/proof", "path": "tokens.symbol=SHL.total",
					"holders": "tokens.symbol=SHL.holders"},
			},
			map[string]any{"symbol": "PRL", "supply": map[string]any{"url": url + "/shell/proof",
				"path": "tokens.2.total", "holders": "tokens.2.holders"}},
			map[string]any{"symbol": "FSH", "name": "Fish bond", "supply": map[string]any{"value": 12500000,
				"as_of": "2031-05-01"}},
		},
	}}
	return x
}

// option returns the options below a name, to be changed.
func (x *exchange) option(name string, i int) map[string]any {
	if list, ok := x.config.Options[name].([]any); ok {
		return list[i].(map[string]any)
	}
	return x.config.Options[name].(map[string]any)
}

// set changes what an API answers.
func (x *exchange) set(path, body string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.files[path] = body
}

func (x *exchange) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.keys[r.URL.Path] = r.Header.Get("x-cg-demo-api-key") + r.Header.Get("Authorization")
	body, ok := x.files[r.URL.Path]
	if !ok {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	fmt.Fprint(w, body)
}
