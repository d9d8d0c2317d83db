package sample

import (
	"io/fs"
	"net/http"
)

// Web answers for the servers of the fiction.
func Web(files fs.FS) http.RoundTripper { return web{files} }

// Authored are the files as their authors wrote them.
func Authored() fs.FS {
	files, err := fs.Sub(embedded, root)
	if err != nil {
		panic(err)
	}
	return files
}
