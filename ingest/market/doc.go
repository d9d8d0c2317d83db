// Package market reads the market of a network's coin: its price, the value
// locked on the network, the pools of trading venues and the supply of assets.
//
//	sources:
//	  - name: market
//	    kind: market
//	    every: 15m
//	    options:
//	      price:                                    # an API of CoinGecko's form: /simple/price
//	        api: https://prices.example.org/api/v3  # base of its addresses
//	        coin: causeway-tally                    # the network's coin, as the API names it
//	        token_env: PRICES_KEY                   # variable that holds a key
//	        token_header: x-cg-demo-api-key         # default: Authorization, as a bearer token
//	      tvl:                                      # an API of DefiLlama's form
//	        api: https://tvl.example.org            # base of its addresses
//	        chain: Causeway                         # /v2/chains and, of /protocols, those with value on this chain
//	        protocols: [lagoon, tidepool]           # instead of /protocols: /tvl/{protocol}, on all chains
//	        token_env: TVL_KEY                      # variable that holds a key; default none
//	        token_header: x-api-key                 # default: Authorization, as a bearer token
//	      venues:                                   # trading venues
//	        - name: lagoon                          # in keys: lower-case letters, digits and hyphens
//	          title: Lagoon Exchange                # default the name
//	          url: https://lagoon.example.org/api/pools  # JSON with its pools
//	          token_env: LAGOON_KEY                 # variable that holds a key; default none
//	          token_header: x-api-key               # default: Authorization, as a bearer token
//	          page: https://lagoon.example.org/pools/{id}  # of a pool for people; default none
//	          pools: data.pools                     # path of the list; default: the answer itself
//	          as_of: data.updated_at                # time of all figures, unless a pool has one
//	          where: {chain: Causeway}              # only pools with these values
//	          fields:                               # paths of a pool's figures; missing ones are left out
//	            id: pool                            # default: made from base and quote
//	            pair: symbol                        # such as TLY-SHL; or base and quote
//	            base: token0.symbol                 # symbol of what is traded
//	            quote: token1.symbol                # symbol of what it is traded against
//	            tvl: tvlUsd                         # value locked, in US dollars
//	            fee_rate: fee                       # share of a trade, 0 to 1
//	            apy: apy                            # yearly yield as a fraction
//	            volume_24h: volumeUsd1d             # traded in 24 hours, in US dollars
//	            as_of: updated_at                   # time of the pool's figures
//	          reserves:                             # what the pool holds; default nothing
//	            - asset: token0.symbol              # path of the asset's symbol
//	              amount: reserve0                  # path of the amount, in whole units
//	            - {asset: token1.symbol, amount: reserve1}
//	          divide: {apy: 100, fee_rate: 10000}   # powers of ten; turns percent and basis points into fractions
//	      assets:                                   # each with a supply
//	        - symbol: TLY                           # its key
//	          name: Tally                           # default the symbol
//	          native: true                          # the network's own coin; default false
//	          decimals: 10                          # places of its unit; default unknown
//	          supply:                               # how much there is of it
//	            url: https://scan.example.org/supply  # JSON with the supply; or value
//	            token_env: SCAN_KEY                 # variable that holds a key; default none
//	            token_header: x-api-key             # default: Authorization, as a bearer token
//	            path: total                         # of the supply in the answer
//	            holders: accounts                   # path of the number of holders; default none
//	            as_of: at                           # path of the time of these figures; with value, a day
//	            divide: 1e10                        # a power of ten that the figure is divided by; default 1
//	        - symbol: SHL
//	          name: Shell dollar
//	          issuer: Shell Works                   # who issues it; default nobody named
//	          coin: shell-dollar                    # in the API of prices; default none, of a native one price.coin
//	          description: A dollar kept in custody.  # default none
//	          page: https://shell.example.org       # about it, for people; default none
//	          supply:
//	            url: https://shell.example.org/proof.json
//	            path: tokens.symbol=SHL.total
//	            holders: tokens.symbol=SHL.holders
//	        - symbol: FSH
//	          name: Fish bond
//	          supply:
//	            value: 12500000                     # in whole units, in place of a url
//	            as_of: 2031-05-01
//
// Paths lead to values in JSON as package dotpath says: data.pools, 0.price,
// tokens.symbol=SHL.total.
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
