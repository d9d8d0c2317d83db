package sample

import (
	"io/fs"
	"net/http"
)

// Web answers for the servers of the fiction.
func Web(files fs.FS) http.RoundTripper { return web{files} }
