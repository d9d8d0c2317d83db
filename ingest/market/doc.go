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
//	        protocols: [lagoon, tidepool]           # instead of /protocols: /tvl/{protocol}, on all chains
//	      venues:
//	        - name: lagoon
//	          title: Lagoon Exchange
//	          url: https://lagoon.example.org/api/pools
//	          page: https://lagoon.example.org/pools/{id}
//	          pools: data.pools                     # path of the list; default: the answer itself
//	          as_of: data.updated_at                # time of all figures, unless a pool has one
//	          where: {chain: Causeway}              # only pools with these values
//	          fields:                               # paths of a pool's figures; missing ones are left out
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
//	          divide: {apy: 100, fee_rate: 10000}   # powers of ten; turns percent and basis points into fractions
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
//	          supply:
//	            url: https://shell.example.org/proof.json
//	            path: tokens.symbol=SHL.total
//	            holders: tokens.symbol=SHL.holders
//	        - symbol: FSH
//	          name: Fish bond
//	          supply: {value: 12500000, as_of: 2031-05-01}   # not from an API
//
// A path leads to a value in JSON, step by step with dots between: a name
// enters an object, a number counts the entries of a list from 0, and
// name=value picks the first entry of a list that has that value. A dot, equals
// sign or backslash in a name is escaped by a backslash. The empty path is the
// whole value.
//
// The market as a whole is a snapshot of the series market; each asset is a
// record of kind asset keyed by its symbol, each pool one of kind pool keyed
// venue/id. The supply of the native coin is derived from the chain, that of
// others reported by their issuers. Holders are null if the answer has
// not_disclosed or nothing.
//
// Times are those stated in the answers, never that of a run. A part whose
// source does not answer, or not with plausible figures, keeps its last good
// ones, which the cursor holds. A run fails if no source answers.
package market
