// Package csp takes the reports that browsers send about violations of the
// content security policy (CSP Level 3, and the Reporting API). It keeps the host
// that was blocked by which directive, and neither the page nor the client.
package csp

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"

	"almanac/api/guard"
	"almanac/api/limit"
	"almanac/api/tally"
)

// maxBody is the maximum size of a report, in bytes.
const maxBody = 64 << 10

// Handler takes reports by POST and answers 204. limit counts every request, and
// every further report of it.
func Handler(counts *tally.Tally, limit *limit.Bucket) http.Handler {
	return limit.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		guard.Protect(w.Header())
		if r.Method != http.MethodPost {
			w.Header().Set("Allow", http.MethodPost)
			guard.Refuse(w, http.StatusMethodNotAllowed, r.Method+" is not allowed here: browsers send reports by POST")
			return
		}
		mediaType, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
		if err != nil || mediaType != Single && mediaType != Batch {
			guard.Refuse(w, http.StatusUnsupportedMediaType, fmt.Sprintf("Content-Type must be %s or %s", Single, Batch))
			return
		}
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
		if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
			guard.Refuse(w, http.StatusRequestEntityTooLarge, "a report must be at most 64 KiB")
			return
		}
		if err != nil {
			guard.Refuse(w, http.StatusBadRequest, "the body could not be read")
			return
		}
		reports, err := Parse(mediaType, body)
		if err != nil {
			guard.Refuse(w, http.StatusBadRequest, err.Error())
			return
		}
		for i, v := range reports {
			if i > 0 && !limit.Take(w, r) {
				return
			}
			counts.Violation(r.Context(), v.Directive, v.Blocked)
		}
		w.WriteHeader(http.StatusNoContent)
	}))
}
