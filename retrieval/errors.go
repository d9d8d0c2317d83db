package retrieval

import "errors"

var (
	// ErrBadQuery: there is nothing to search for in the query. The wrapping
	// error says why in words for the user.
	ErrBadQuery = errors.New("bad query")
	// ErrNotReady: the first index is not complete.
	ErrNotReady = errors.New("index not ready")
	// ErrUnavailable: no engine that could answer is there.
	ErrUnavailable = errors.New("no search engine answers")
)
