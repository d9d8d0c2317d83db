// Package sqlite keeps the catalog in one SQLite file. It imports catalog and
// its migrations.
//
// # How it writes
//
// One connection writes, a pool reads; the write-ahead log lets both work at
// once, also from several processes (a sync beside a server). A writer takes
// the file's write lock at the start of its transaction and waits for it until
// its context ends, at most LockWait. Reads beyond the pool wait: those of the
// oldest request are next.
//
// synchronous is NORMAL: a killed process loses nothing that was committed,
// because the operating system already has the log. A power failure may lose
// the last transactions, but only whole ones: records and their cursor are lost
// together, so the next sync repeats the work.
//
// # SQL
//
// Each table's statements are in the file of its name. They name their columns,
// use ? for every value and only SQL that PostgreSQL also accepts; SQLite
// specifics are in open.go and errors.go. SQL never looks inside a record's
// data. Times are integers: microseconds since 1970 UTC, 0 for unknown.
//
// Case-insensitive filters use lower(), which handles only ASCII in SQLite; the
// text search of lists is folded in Go and handles all of Unicode. Orders
// compare bytes.
package sqlite
