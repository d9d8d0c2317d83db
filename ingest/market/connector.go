package market

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"almanac/catalog"
	"almanac/ingest"
	"almanac/ingest/outbound"
	"almanac/text/table"
	"almanac/text/webaddress"
)

// Kind is the kind of sources that network files call market.
var Kind = ingest.Kind[settings, memory]{
	Name: "market",
	Summary: "Reads the market of a network's coin: its price, the value locked on the network, the pools of " +
		"trading venues and the supply of assets.",
	Example: `sources:
  - name: market
    kind: market
    every: 15m
    options:
      price:                                    # an API of CoinGecko's form: /simple/price
        api: https://prices.example.org/api/v3  # base of its addresses
        coin: causeway-tally                    # the network's coin, as the API names it
        token_env: PRICES_KEY                   # variable that holds a key
        token_header: x-cg-demo-api-key         # default: Authorization, as a bearer token
      tvl:                                      # an API of DefiLlama's form
        api: https://tvl.example.org            # base of its addresses
        chain: Causeway                         # /v2/chains and, of /protocols, those with value on this chain
        protocols: [lagoon, tidepool]           # instead of /protocols: /tvl/{protocol}, on all chains
        token_env: TVL_KEY                      # variable that holds a key; default none
        token_header: x-api-key                 # default: Authorization, as a bearer token
      venues:                                   # trading venues
        - name: lagoon                          # in keys: lower-case letters, digits and hyphens
          title: Lagoon Exchange                # default the name
          url: https://lagoon.example.org/api/pools  # JSON with its pools
          token_env: LAGOON_KEY                 # variable that holds a key; default none
          token_header: x-api-key               # default: Authorization, as a bearer token
          page: https://lagoon.example.org/pools/{id}  # of a pool for people; default none
          pools: data.pools                     # path of the list; default: the answer itself
          as_of: data.updated_at                # time of all figures, unless a pool has one
          where: {chain: Causeway}              # only pools with these values
          fields:                               # paths of a pool's figures; missing ones are left out
            id: pool                            # default: made from base and quote
            pair: symbol                        # such as TLY-SHL; or base and quote
            base: token0.symbol                 # symbol of what is traded
            quote: token1.symbol                # symbol of what it is traded against
            tvl: tvlUsd                         # value locked, in US dollars
            fee_rate: fee                       # share of a trade, 0 to 1
            apy: apy                            # yearly yield as a fraction
            volume_24h: volumeUsd1d             # traded in 24 hours, in US dollars
            as_of: updated_at                   # time of the pool's figures
          reserves:                             # what the pool holds; default nothing
            - asset: token0.symbol              # path of the asset's symbol
              amount: reserve0                  # path of the amount, in whole units
            - {asset: token1.symbol, amount: reserve1}
          divide: {apy: 100, fee_rate: 10000}   # powers of ten; turns percent and basis points into fractions
      assets:                                   # each with a supply
        - symbol: TLY                           # its key
          name: Tally                           # default the symbol
          native: true                          # the network's own coin; default false
          decimals: 10                          # places of its unit; default unknown
          supply:                               # how much there is of it
            url: https://scan.example.org/supply  # JSON with the supply; or value
            token_env: SCAN_KEY                 # variable that holds a key; default none
            token_header: x-api-key             # default: Authorization, as a bearer token
            path: total                         # of the supply in the answer
            holders: accounts                   # path of the number of holders; default none
            as_of: at                           # path of the time of these figures; with value, a day
            divide: 1e10                        # a power of ten that the figure is divided by; default 1
        - symbol: SHL
          name: Shell dollar
          issuer: Shell Works                   # who issues it; default nobody named
          coin: shell-dollar                    # in the API of prices; default none, of a native one price.coin
          description: A dollar kept in custody.  # default none
          page: https://shell.example.org       # about it, for people; default none
          supply:
            url: https://shell.example.org/proof.json
            path: tokens.symbol=SHL.total
            holders: tokens.symbol=SHL.holders
        - symbol: FSH
          name: Fish bond
          supply:
            value: 12500000                     # in whole units, in place of a url
            as_of: 2031-05-01
`,
	Open: func(s settings, env ingest.Environment) (ingest.Connector[memory], error) {
		err := s.date(env.Now())
		return connector{s, env}, err
	},
}

type connector struct {
	opts settings
	env  ingest.Environment
}

// run is one pass over all sources.
type run struct {
	opts   settings
	env    ingest.Environment
	out    ingest.Sink
	known  memory // from the previous run
	now    memory
	stale  map[string]bool // parts of the snapshot that did not answer
	bodies map[string]answer
	warned map[string]bool // variables that are not set
	asked  int
	failed []error
	pools  []catalog.Entry
	whole  bool // all venues were read
}

type answer struct {
	body json.RawMessage
	err  error
}

// Sync implements ingest.Connector.
func (c connector) Sync(ctx context.Context, known memory, out ingest.Sink) (memory, ingest.Outcome, error) {
	r := &run{
		opts: c.opts, env: c.env, out: out, known: known, now: newMemory(), stale: map[string]bool{},
		bodies: map[string]answer{}, warned: map[string]bool{}, whole: true,
	}
	err := r.read(ctx)
	if err == nil && r.asked > 0 && len(r.failed) == r.asked {
		err = fmt.Errorf("no source answered: %w", errors.Join(r.failed...))
	}
	if err == nil {
		err = r.write(ctx)
	}
	return r.now, ingest.Outcome{Complete: r.whole}, err
}

// part is one thing to read.
type part struct {
	name string
	read func(context.Context) error
}

// read queries all sources. It only fails if ctx is done.
func (r *run) read(ctx context.Context) error {
	var parts []part
	if r.opts.Price != nil {
		parts = append(parts, part{"price", r.prices})
	}
	if r.opts.TVL != nil {
		parts = append(parts, part{"tvl", r.chain}, part{"protocols", r.protocols})
	}
	for _, v := range r.opts.Venues {
		parts = append(parts, part{"venue " + v.Name, func(ctx context.Context) error { return r.venue(ctx, v) }})
	}
	for _, a := range r.opts.Assets {
		if a.Supply.URL != "" {
			parts = append(parts, part{"supply of " + a.Symbol, func(ctx context.Context) error {
				return r.supply(ctx, a)
			}})
		}
	}
	for i, p := range parts {
		err := p.read(ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			r.failed = append(r.failed, fmt.Errorf("%s: %w", p.name, err))
			r.stale[p.name] = true
			r.out.Warn(p.name, "keeping its last good figures, because it could not be read: "+err.Error())
		}
		r.out.Progress(i+1, len(parts))
	}
	r.asked = len(parts)
	return nil
}

// write writes everything at once: nothing is written if no source answered.
func (r *run) write(ctx context.Context) error {
	for _, a := range r.opts.Assets {
		e, err := r.asset(a)
		if err == nil {
			err = r.out.Put(ctx, e)
		}
		if err != nil {
			return err
		}
	}
	for _, e := range r.pools {
		if err := r.out.Put(ctx, e); err != nil {
			return err
		}
	}
	if r.opts.Price == nil && r.opts.TVL == nil {
		return nil
	}
	data, err := catalog.Encode(r.state())
	if err != nil {
		return err
	}
	r.out.Snapshot(catalog.Snapshot{Series: catalog.SeriesMarket, CapturedAt: r.env.Now().UTC(), Data: data})
	return nil
}

// state returns the state of the market as a whole.
func (r *run) state() catalog.MarketState {
	s := catalog.MarketState{Protocols: []catalog.ProtocolTVL{}, Stale: []string{}}
	var sources []string
	if p := r.opts.Price; p != nil {
		sources = append(sources, webaddress.Host(p.API))
		if q, ok := r.now.Prices[p.Coin]; ok {
			s.PriceUSD, s.MarketCapUSD, s.Volume24hUSD, s.Change24h = &q.Figures.Price, q.Figures.Cap, q.Figures.Volume,
				q.Figures.Change
			s.PriceAsOf = q.at(r.stale["price"])
		}
	}
	if t := r.opts.TVL; t != nil {
		sources = append(sources, webaddress.Host(t.API))
		if v, ok := r.now.TVL[t.Chain]; ok {
			s.TVLUSD, s.TVLAsOf = &v.Figures, v.at(r.stale["tvl"])
		}
		if v, ok := r.now.Protocols[t.Chain]; ok {
			s.Protocols, s.ProtocolsAsOf = v.Figures, v.at(r.stale["protocols"])
		}
	}
	for _, name := range []string{"price", "tvl", "protocols"} {
		if r.stale[name] {
			s.Stale = append(s.Stale, name)
		}
	}
	s.Source = strings.Join(sources, ", ")
	return s
}

// header returns the header with the key, if there is one.
func (r *run) header(a access) http.Header {
	if a.TokenEnv == "" {
		return nil
	}
	token := r.env.Secret(a.TokenEnv)
	if token == "" {
		if !r.warned[a.TokenEnv] {
			r.warned[a.TokenEnv] = true
			r.out.Warn("option token_env",
				fmt.Sprintf("the environment variable %s is not set; continuing without a key", a.TokenEnv))
		}
		return nil
	}
	name := cmp.Or(a.TokenHeader, "Authorization")
	if strings.EqualFold(name, "Authorization") {
		token = "Bearer " + token
	}
	return http.Header{http.CanonicalHeaderKey(name): {token}}
}

var types = []string{"application/json", "application/vnd.api+json", "application/octet-stream", "text/plain"}

// fetch reads JSON, once per run and address.
func (r *run) fetch(ctx context.Context, address string, a access) (json.RawMessage, error) {
	key := a.TokenEnv + " " + address
	if known, ok := r.bodies[key]; ok {
		return known.body, known.err
	}
	resp, err := r.env.HTTP.Do(ctx, outbound.Request{URL: address, Header: r.header(a), Accept: types})
	body, ok := table.JSON(resp.Body)
	if err == nil && !ok {
		err = fmt.Errorf("%s: the answer is not JSON", webaddress.Host(address))
	}
	if err != nil {
		body = nil
	}
	r.bodies[key] = answer{body, err}
	return body, err
}
