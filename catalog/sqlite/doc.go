// Package sqlite keeps the catalog in one SQLite file. It imports catalog and
// its migrations.
//
// # How it writes
//
// One connection writes, a pool reads; the write-ahead log lets both work at
// once, also from several processes (a sync beside a server). Writers take
// the file's write lock at the start of their transaction and wait for it as
// long as their context lives, at most LockWait.
//
// synchronous is NORMAL: a killed process loses nothing that was committed,
// because the log is with the operating system by then. A power failure may
// lose the last transactions, but whole ones only: records and the cursor that
// stands for them go together, so the next sync repeats what was lost.
//
// # SQL
//
// Each table's statements are in the file of its name. They name their
// columns, use ? for every value and nothing that PostgreSQL would not
// understand; what is particular to SQLite is in open.go and errors.go.
// SQL never looks inside a record's data. Times are integers: microseconds
// since 1970 UTC, 0 for unknown.
//
// Filters that ignore case put both sides through lower(), which in SQLite
// knows ASCII only; the text search of lists is folded in Go and knows all of
// Unicode. Orders are by bytes.
package sqlite
