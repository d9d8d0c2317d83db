// Package index keeps the engines and the passages table in step with the
// catalog: it follows the change log, cuts and analyses what changed, embeds
// it, and holds what the reranker reads of candidates (analysed passages,
// corpus statistics), so that signals are the same on every stack and never
// come from an engine. Ranking is done by retrieval.
package index
