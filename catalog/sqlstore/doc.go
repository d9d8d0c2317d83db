// Package sqlstore keeps the catalog in tables of an SQL database. It imports catalog
// alone: the packages of the engines open a database, bring its schema up to date and
// say what is their own (Config).
//
// # SQL
//
// Statements name their columns, use ? for every value and only SQL that SQLite and
// PostgreSQL both accept. SQL never looks inside a record's data. Times are integers: microseconds since 1970
// UTC, 0 for unknown. Booleans are integers.
//
// Case-insensitive filters use lower(), which handles only ASCII; the text search of
// lists is folded in Go and handles all of Unicode. Orders compare bytes.
//
// One transaction writes at a time, over all processes, so that the order of changes is
// that of their commits. Reads beyond the pool wait: those of the oldest request are
// next.
package sqlstore
