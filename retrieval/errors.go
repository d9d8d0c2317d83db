package retrieval

import "errors"

var (
	// ErrBadQuery: the query has nothing to search for. The wrapping error tells the user why.
	ErrBadQuery = errors.New("bad query")
	// ErrNotReady: the first index is not complete.
	ErrNotReady = errors.New("index not ready")
	// ErrUnavailable: no engine answers.
	ErrUnavailable = errors.New("no search engine answers")
)
