// Package market reads the market of a network's coin: its price, the value
// locked on the network, the pools of trading venues and the supply of assets.
//
//	sources:
//	  - name: market
//	    kind: market
//	    every: 15m
//	    options:
//	      price:                                    # an API of CoinGecko's form: /simple/price
//	        api: https://prices.example.org/api/v3
//	        coin: causeway-tally                    # the network's coin, as the API names it
//	        token_env: PRICES_KEY                   # variable that holds a key
//	        token_header: x-cg-demo-api-key         # default: Authorization, as a bearer token
//	      tvl:                                      # an API of DefiLlama's form
//	        api: https://tvl.example.org
//	        chain: Causeway                         # /v2/chains and, of /protocols, those with value on this chain
//	        protocols: [lagoon, tidepool]           # instead of /protocols: /tvl/{protocol}, which counts all its chains
//	      venues:
//	        - name: lagoon
//	          title: Lagoon Exchange
//	          url: https://lagoon.example.org/api/pools
//	          page: https://lagoon.example.org/pools/{id}
//	          pools: data.pools                     # where the list is; default: the answer itself
//	          as_of: data.updated_at                # when all of it was true, unless a pool says
//	          where: {chain: Causeway}              # only pools whose fields say this
//	          fields:                               # where a pool has its figures; what it lacks is left out
//	            id: pool                            # default: made from base and quote
//	            base: token0.symbol
//	            quote: token1.symbol                # or pair: symbol, such as TLY-SHL
//	            tvl: tvlUsd
//	            fee_rate: fee
//	            apy: apy
//	            volume_24h: volumeUsd1d
//	            as_of: updated_at
//	          reserves:
//	            - {asset: token0.symbol, amount: reserve0}
//	            - {asset: token1.symbol, amount: reserve1}
//	          divide: {apy: 100, fee_rate: 10000}   # powers of ten; for percent and basis points, as we keep fractions
//	      assets:
//	        - symbol: TLY
//	          name: Tally
//	          native: true
//	          decimals: 10
//	          supply: {url: https://scan.example.org/supply, path: total, as_of: at, divide: 1e10}
//	        - symbol: SHL
//	          name: Shell dollar
//	          issuer: Shell Works
//	          coin: shell-dollar                    # for its price
//	          description: A dollar kept in custody.
//	          page: https://shell.example.org
//	          supply: {url: https://shell.example.org/proof.json, path: tokens.symbol=SHL.total, holders: tokens.symbol=SHL.holders}
//	        - symbol: FSH
//	          name: Fish bond
//	          supply: {value: 12500000, as_of: 2031-05-01}   # reported elsewhere than in an API
//
// A path leads to a value in JSON, step by step with dots between: a name
// enters an object, a number counts the entries of a list from 0, and
// name=value picks the first entry of a list that has that value. A dot, equals
// sign or backslash in a name stands behind a backslash. The empty path is the
// whole.
//
// The market as a whole is a snapshot of the series market; each asset is a
// record of kind asset keyed by its symbol, each pool one of kind pool keyed
// venue/id. The supply of the native coin is derived from the chain, that of
// others reported by their issuers. Holders are counted only where the answer
// does: not_disclosed, or nothing, is null.
//
// Times are those that the answers state, never that of a run. A part whose
// source does not answer, or not with figures that can be true, keeps its last
// good ones, which the cursor holds. A run fails if no source answers.
package market
