// Package dashboard is for operators. It serves the pages of the admin listener:
// what people tune relevance with, from a query to a change that is live, and run the
// service. Its pages are rendered on the server as those of package web are, but it
// changes things, so it works on catalog and searcher themselves. Whoever mounts it
// has checked login and origin.
package dashboard

import (
	"embed"

	"almanac/api/dashboard/form"
	"almanac/api/dashboard/judge"
	"almanac/api/dashboard/lab"
	"almanac/api/dashboard/manage"
	"almanac/api/look"
)

//go:embed */pages
var templates embed.FS

// sections are those of the masthead.
var sections = []look.Link{{Title: "Lab", Path: "/lab"}, {Title: "Cases", Path: "/cases"},
	{Title: "Evaluation", Path: "/evaluation"}, {Title: "Rules", Path: "/rules"}, {Title: "Profiles", Path: "/profiles"},
	{Title: "Searches", Path: "/searches"}, {Title: "Operations", Path: "/operations"}}

// New makes the pages of all rooms.
func New(cfg form.Config) (*form.Pages, error) {
	return form.New(cfg, templates, sections, lab.Routes, judge.Routes, manage.Routes)
}
