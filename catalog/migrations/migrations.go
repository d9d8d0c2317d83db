// Package migrations embeds the schema of the catalog, one directory a
// dialect, in goose's format. It imports nothing of ours.
//
// A migration that was released is never edited: a change of the schema is a
// new file. SELECT and INSERT name their columns, so that a program reads a
// database that a newer one has only added columns to.
package migrations

import (
	"embed"
	"io/fs"
)

//go:embed sqlite/*.sql
var files embed.FS

// SQLite returns the migrations of the SQLite schema.
func SQLite() fs.FS {
	dir, err := fs.Sub(files, "sqlite")
	if err != nil { // the directory is embedded above
		panic(err)
	}
	return dir
}
