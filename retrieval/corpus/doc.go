// Package corpus holds the indexed records as the reranker reads them: analysed
// passages, corpus statistics and the words that a misspelt one may mean. Signals and
// corrections come from it, never from an engine, so that answers are the same on every
// stack. Documents are in memory, or stay in the catalog and are read from there.
// Package index keeps it up to date.
package corpus
