package market

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"almanac/catalog"
	"almanac/ingest/outbound"
	"almanac/text/table"
)

// prices reads the quotes of the coin and of the assets, in one request.
// https://docs.coingecko.com/reference/simple-price
func (r *run) prices(ctx context.Context) error {
	p := r.opts.Price
	coins := []string{p.Coin}
	for _, a := range r.opts.Assets {
		if a.Coin != "" && !slices.Contains(coins, a.Coin) {
			coins = append(coins, a.Coin)
		}
	}
	query := url.Values{
		"ids": {strings.Join(coins, ",")}, "vs_currencies": {"usd"}, "include_market_cap": {"true"},
		"include_24hr_vol": {"true"}, "include_24hr_change": {"true"}, "include_last_updated_at": {"true"},
		"precision": {"full"},
	}
	body, err := r.fetch(ctx, p.API+"/simple/price?"+query.Encode(), p.access)
	var all map[string]map[string]json.RawMessage
	if err == nil && json.Unmarshal(body, &all) != nil {
		err = errors.New("the answer is not a list of prices")
	}
	var failed error
	for _, coin := range coins {
		q, bad := quote{}, err
		if err == nil {
			q, bad = r.quote(coin, all[coin])
		}
		updated, _ := table.Text(all[coin]["last_updated_at"])
		asOf := parseTime(updated, r.env.Now())
		switch bad = r.now.Prices.note(r.known.Prices, coin, q, asOf, r.env.Now(), bad); {
		case coin == p.Coin:
			failed = bad
		case bad != nil && err == nil:
			r.out.Warn("price of "+coin, "keeping its last good price: "+bad.Error())
		}
	}
	return failed
}

var errNoPrice = errors.New("the answer has no price of it; check the id")

// quote reads the figures of a coin. Without a plausible price the rest is
// worthless.
func (r *run) quote(coin string, figures map[string]json.RawMessage) (quote, error) {
	price, err := amount(figures["usd"], 0, 0, maxPrice)
	switch {
	case err != nil:
		return quote{}, fmt.Errorf("the price %w", err)
	case price == nil || *price == 0:
		return quote{}, errNoPrice
	}
	q := quote{Price: *price}
	q.Cap = r.figure("price of "+coin, "usd_market_cap", figures["usd_market_cap"], 0, 0, maxUSD)
	if q.Cap != nil && *q.Cap == 0 {
		q.Cap = nil // the API writes 0 for unknown
	}
	q.Volume = r.figure("price of "+coin, "usd_24h_vol", figures["usd_24h_vol"], 0, 0, maxUSD)
	q.Change = r.figure("price of "+coin, "usd_24h_change", figures["usd_24h_change"], 0, -100, maxChange)
	return q, nil
}

// figure is amount for an optional figure: an implausible one is reported and
// left out.
func (r *run) figure(
	locator, name string, data json.RawMessage, divide divisor, least, most float64,
) *float64 {
	n, err := amount(data, divide, least, most)
	if err != nil {
		r.out.Warn(locator, name+" "+err.Error())
	}
	return n
}

// chain reads the value locked on the chain. https://api-docs.defillama.com
func (r *run) chain(ctx context.Context) error {
	t := r.opts.TVL
	value, err := r.chainTVL(ctx, t)
	return r.now.TVL.note(r.known.TVL, t.Chain, value, "", r.env.Now(), err)
}

func (r *run) chainTVL(ctx context.Context, t *tvl) (float64, error) {
	body, err := r.fetch(ctx, t.API+"/v2/chains", t.access)
	if err != nil {
		return 0, err
	}
	value, err := amount((table.Pick("name", t.Chain) + ".tvl").Find(body), 0, 0, maxUSD)
	if err == nil && value == nil {
		err = fmt.Errorf("the list of chains has no value of %q; check option chain", t.Chain)
	}
	if err != nil {
		return 0, err
	}
	return *value, nil
}

// maxProtocols is the number of protocols kept, the largest ones.
const maxProtocols = 200

// protocols reads the value locked in each protocol.
func (r *run) protocols(ctx context.Context) error {
	t := r.opts.TVL
	read := r.protocolsOfChain
	if len(t.Protocols) > 0 {
		read = r.namedProtocols
	}
	all, err := read(ctx, t)
	slices.SortStableFunc(all, func(a, b catalog.ProtocolTVL) int {
		return cmp.Or(cmp.Compare(value(b.TVLUSD), value(a.TVLUSD)), cmp.Compare(a.Protocol, b.Protocol))
	})
	all = all[:min(len(all), maxProtocols)]
	return r.now.Protocols.note(r.known.Protocols, t.Chain, all, "", r.env.Now(), err)
}

func value(n *float64) float64 {
	if n == nil {
		return math.Inf(-1)
	}
	return *n
}

// notLocked are the categories of /protocols that the totals of chains also
// exclude: deposits at exchanges, and chains themselves.
var notLocked = []string{"CEX", "Chain"}

func (r *run) protocolsOfChain(ctx context.Context, t *tvl) ([]catalog.ProtocolTVL, error) {
	body, err := r.fetch(ctx, t.API+"/protocols", t.access)
	if err != nil {
		return nil, err
	}
	entries, ok := table.Path("").List(body)
	if !ok || len(entries) == 0 {
		return nil, errors.New("the answer is not a list of protocols")
	}
	all := []catalog.ProtocolTVL{}
	shaped := false // some entry has the form of a protocol
	for _, raw := range entries {
		var p struct {
			Name      string                     `json:"name"`
			Category  string                     `json:"category"`
			ChainTVLs map[string]json.RawMessage `json:"chainTvls"`
		}
		if json.Unmarshal(raw, &p) != nil || p.Name == "" || p.ChainTVLs == nil {
			continue
		}
		shaped = true
		data, here := p.ChainTVLs[t.Chain]
		if !here || slices.Contains(notLocked, p.Category) {
			continue
		}
		all = append(all, catalog.ProtocolTVL{
			Protocol: p.Name, TVLUSD: r.figure("protocol "+p.Name, "tvl", data, 0, 0, maxUSD),
		})
	}
	if !shaped {
		return nil, errors.New("the list of protocols does not have the expected form")
	}
	return all, nil
}

// namedProtocols requests one protocol after another. One that the API does not
// have gets no value; if the server fails, all keep their values.
func (r *run) namedProtocols(ctx context.Context, t *tvl) ([]catalog.ProtocolTVL, error) {
	var all []catalog.ProtocolTVL
	for _, name := range t.Protocols {
		body, err := r.fetch(ctx, t.API+"/tvl/"+url.PathEscape(name), t.access)
		switch status := outbound.StatusOf(err); {
		case status == http.StatusNotFound || status == http.StatusBadRequest:
			r.out.Warn("protocol "+name, "the API does not have it; check option protocols")
			all = append(all, catalog.ProtocolTVL{Protocol: name})
			continue
		case err != nil:
			return nil, err
		}
		all = append(all, catalog.ProtocolTVL{
			Protocol: name, TVLUSD: r.figure("protocol "+name, "tvl", body, 0, 0, maxUSD),
		})
	}
	return all, nil
}
