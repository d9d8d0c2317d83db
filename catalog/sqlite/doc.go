// Package sqlite opens the catalog in one SQLite file. It imports catalog/sqlstore
// and the migrations.
//
// # How it writes
//
// One connection writes, a pool reads; the write-ahead log lets both work at
// once, also from several processes (a sync beside a server). A writer takes
// the file's write lock at the start of its transaction and waits for it until
// its context ends, at most a minute.
//
// synchronous is NORMAL: a killed process loses nothing that was committed,
// because the operating system already has the log. A power failure may lose
// the last transactions, but only whole ones: records and their cursor are lost
// together, so the next sync repeats the work.
package sqlite
