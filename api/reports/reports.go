// Package reports takes what browsers report: violations of the content security
// policy of pages (CSP Level 3, and the Reporting API), and which results of a query
// were shown and opened. It keeps neither the page nor the client.
package reports

import (
	"net/http"

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
