// Package index keeps the corpus, the passages table and the engines in step
// with the catalog: it follows the change log, cuts and analyses what changed
// and embeds it.
package index
