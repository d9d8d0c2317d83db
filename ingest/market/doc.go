// Package market reads the market of a network's coin: its price, the value
// locked on the network, the pools of trading venues and the supply of assets.
//
// Paths lead to values in JSON as package table says: data.pools, 0.price,
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
// ones. A run fails if no source answers.
package market
