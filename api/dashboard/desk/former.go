package desk

import (
	"net/http"
	"strings"

	"almanac/api/edge"
)

// formerly are addresses that pages had, by where they are now: what people kept of them
// still leads there.
var formerly = map[string]string{
	"/analytics": "/searches", "/analytics/audit": "/changes", "/analytics/synonyms": "/rules",
	"/analytics/pins": "/rules/pins", "/analytics/pins/edit": "/rules/pins/edit",
	"/judging": "/cases", "/judging/{rest...}": "/cases/",
	"/tuning": "/profiles", "/tuning/{rest...}": "/profiles/",
}

// formerRoutes lead from the old addresses to the new ones.
func formerRoutes() (all []edge.Route) {
	for from, to := range formerly {
		old, _, _ := strings.Cut(from, "{")
		all = append(all, edge.Route{Method: http.MethodGet, Path: from, Page: true,
			Serve: func(r *http.Request) (*edge.Answer, error) {
				address := to
				if strings.HasSuffix(from, "}") {
					address += strings.TrimPrefix(r.URL.EscapedPath(), old)
				}
				if r.URL.RawQuery != "" {
					address += "?" + r.URL.RawQuery
				}
				return &edge.Answer{Status: http.StatusMovedPermanently, Goto: address}, nil
			}})
	}
	return all
}
