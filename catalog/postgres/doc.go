// Package postgres opens the catalog in a PostgreSQL database. It imports
// catalog/sqlstore and the migrations.
//
// Any number of processes, on any machines, may have it open. One transaction writes at
// a time: each locks a row first, which every other waits for until its context ends,
// at most a minute. So changes are numbered in the order of their commits, which the
// order of a sequence's numbers alone is not.
//
// The database needs the encoding UTF8 and version 13 or newer; the user owns the
// schema that its tables are made in (the first of the search path).
package postgres
