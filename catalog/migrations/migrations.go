// Package migrations embeds the schema of the catalog, one directory per SQL
// dialect, in goose's format. It imports no other package of this module.
//
// The first file of each is the schema of the first release that is updated from. A released
// migration is never edited: a schema change is a new file. SELECT
// and INSERT name their columns, so that a program can use a database to which
// a newer version has only added columns.
//
// Servers on PostgreSQL are replaced one by one, so that the older ones go on with the
// schema of the newer. A migration there only expands: it adds tables, columns with a
// default and indexes. What nothing uses any more is removed by a release after the one
// that ceased to use it, in a migration that sets 'schema.oldest' of the table meta to the
// first schema whose programs do without: older ones refuse it then.
package migrations

import (
	"embed"
	"io/fs"
	"strconv"
	"strings"
)

//go:embed sqlite/*.sql postgres/*.sql
var files embed.FS

// SQLite returns the migrations of the SQLite schema.
func SQLite() fs.FS { return of("sqlite") }

// PostgreSQL returns the migrations of the PostgreSQL schema.
func PostgreSQL() fs.FS { return of("postgres") }

// Versions returns the oldest schema that is updated, which a new catalog begins with, and the newest.
func Versions(schema fs.FS) (oldest, newest int64) {
	files, err := fs.Glob(schema, "*.sql")
	if err != nil { // the pattern is right
		panic(err)
	}
	return number(files[0]), number(files[len(files)-1])
}

func number(file string) int64 {
	digits, _, _ := strings.Cut(file, "_")
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil { // the files are embedded above
		panic(err)
	}
	return n
}

func of(dialect string) fs.FS {
	dir, err := fs.Sub(files, dialect)
	if err != nil { // the directory is embedded above
		panic(err)
	}
	return dir
}
