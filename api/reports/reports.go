// Package reports takes what browsers report: violations of the content security
// policy of pages (CSP Level 3, and the Reporting API), and which results of a query
// were shown and opened. It keeps neither the page nor the client.
package reports

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"almanac/api/edge"
	"almanac/api/limit"
	"almanac/api/op"
	"almanac/api/tally"
)

// ClicksPath is where pages say what was shown and opened.
const ClicksPath = "/clicks"

const (
	maxViolations = 64 << 10 // bytes
	maxClicks     = 8 << 10  // a query of the longest kind and Depth ids
)

// Violations takes reports by POST and answers 204. limit counts every request, and
// every further report of it.
func Violations(counts *tally.Tally, limit *limit.Bucket) edge.Route {
	return edge.Route{
		Method: http.MethodPost, Path: edge.ReportPath, Limit: limit, MaxBody: maxViolations,
		Advice: "browsers send reports by POST",
		Serve: func(r *http.Request) (*edge.Answer, error) {
			counted := http.Header{}
			body, mediaType, err := edge.Body(r, Single, Batch)
			if err != nil {
				return nil, err
			}
			reports, err := Parse(mediaType, body)
			if err != nil {
				return nil, op.Invalid("%s", err)
			}
			for i, v := range reports {
				if i > 0 {
					if text, wait := limit.Take(counted, r); text != "" {
						return nil, &edge.Refusal{Status: http.StatusTooManyRequests, Message: text, Wait: wait}
					}
				}
				counts.Violation(r.Context(), v.Directive, v.Blocked)
			}
			return &edge.Answer{Status: http.StatusNoContent, Header: counted}, nil
		},
	}
}

// Clicks takes reports by POST and answers 204. Reports from pages of other origins
// are refused: what people choose there is not about our results.
func Clicks(counts *tally.Tally, limit *limit.Bucket) edge.Route {
	own := http.NewCrossOriginProtection()
	return edge.Route{
		Method: http.MethodPost, Path: ClicksPath, Limit: limit, MaxBody: maxClicks, Advice: "pages report by POST",
		Gate: func(r *http.Request) *edge.Answer {
			if own.Check(r) == nil {
				return nil
			}
			return (&edge.Refusal{Status: http.StatusForbidden, Message: "only pages of this service report here"}).JSON()
		},
		Serve: func(r *http.Request) (*edge.Answer, error) {
			body, _, err := edge.Body(r, "application/json")
			if err != nil {
				return nil, err
			}
			report, err := ParseClicks(body)
			if err != nil {
				return nil, op.Invalid("%s", err)
			}
			counts.Shown(r.Context(), report.Query, report.Shown, report.Clicked)
			return &edge.Answer{Status: http.StatusNoContent}, nil
		},
	}
}

// Depth is how many results of a page are counted.
const Depth = 20

// Choice is what was shown for a query, best first, and what was opened.
type Choice struct {
	Query   string  `json:"query"`
	Shown   []int64 `json:"shown"`             // record ids
	Clicked int     `json:"clicked,omitempty"` // position from 1; 0: none
}

// ParseClicks reads a report, strictly.
func ParseClicks(body []byte) (Choice, error) {
	var r Choice
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
