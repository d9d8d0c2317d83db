// Package dashboard is for operators. It serves the pages of the admin listener:
// what people tune relevance with, from a query to a change that is live, and run the
// service. Its pages are rendered on the server as those of package web are, but it
// changes things, so it works on catalog and searcher themselves. Whoever mounts it
// has checked login and origin.
package dashboard

import (
	"embed"

	"almanac/api/dashboard/cases"
	"almanac/api/dashboard/desk"
	"almanac/api/dashboard/evaluation"
	"almanac/api/dashboard/lab"
	"almanac/api/dashboard/operations"
	"almanac/api/dashboard/profiles"
	"almanac/api/dashboard/rules"
)

//go:embed */pages
var pages embed.FS

// New makes the desk of all sections.
func New(cfg desk.Config) (*desk.Desk, error) {
	return desk.New(cfg, pages, lab.New, cases.New, evaluation.New, rules.New, profiles.New, rules.NewSearches,
		operations.New, operations.NewChanges)
}
