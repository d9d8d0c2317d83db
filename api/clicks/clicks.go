// Package clicks takes what pages of results say about how they are used: which
// records were shown for a query, and which of them was opened. Nothing about
// who it was is sent or kept. Operators switch it on.
package clicks

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"

	"almanac/api/guard"
	"almanac/api/limit"
	"almanac/api/tally"
)

// Path is where pages send their reports.
const Path = "/clicks"

const (
	maxBody = 8 << 10 // bytes: a query of the longest kind and Depth ids
	// Depth is how many results of a page are counted.
	Depth = 20
)

// Report is what was shown for a query, best first, and what was opened.
type Report struct {
	Query   string  `json:"query"`
	Shown   []int64 `json:"shown"`             // record ids
	Clicked int     `json:"clicked,omitempty"` // position from 1; 0: none
}

// Parse reads a report, strictly.
func Parse(body []byte) (Report, error) {
	var r Report
	if err := json.Unmarshal(body, &r); err != nil {
		return r, errors.New("the body must be a JSON object with query, shown and clicked")
	}
	sorted := slices.Sorted(slices.Values(r.Shown))
	switch {
	case r.Query == "":
		return r, errors.New("query is missing")
	case len(r.Shown) == 0 || len(r.Shown) > Depth:
		return r, fmt.Errorf("shown must have 1 to %d records", Depth)
	case sorted[0] < 1 || len(slices.Compact(sorted)) < len(r.Shown):
		return r, errors.New("shown must have ids of records, each once")
	case r.Clicked < 0 || r.Clicked > len(r.Shown):
		return r, errors.New("clicked must be a position in shown, or 0")
	}
	return r, nil
}

// Handler takes reports by POST and answers 204. limit counts every request. A
// page of another origin is refused: what people choose there is not ours.
func Handler(counts *tally.Tally, limit *limit.Bucket) http.Handler {
	own := http.NewCrossOriginProtection()
	own.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		guard.Refuse(w, http.StatusForbidden, "only pages of this service report here")
	}))
	return limit.Handler(own.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		guard.Protect(w.Header())
		if r.Method != http.MethodPost {
			w.Header().Set("Allow", http.MethodPost)
			guard.Refuse(w, http.StatusMethodNotAllowed, r.Method+" is not allowed here: pages report by POST")
			return
		}
		if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
			guard.Refuse(w, http.StatusUnsupportedMediaType, "Content-Type must be application/json")
			return
		}
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
		if err != nil {
			guard.Refuse(w, http.StatusBadRequest, fmt.Sprintf("the body must be at most %d bytes", maxBody))
			return
		}
		report, err := Parse(body)
		if err != nil {
			guard.Refuse(w, http.StatusBadRequest, err.Error())
			return
		}
		counts.Shown(r.Context(), report.Query, report.Shown, report.Clicked)
		w.WriteHeader(http.StatusNoContent)
	})))
}
