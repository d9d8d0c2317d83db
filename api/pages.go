package api

import (
	"cmp"
	"strings"

	"almanac/api/describe"
	"almanac/api/limit"
	"almanac/api/mcp"
	"almanac/api/server"
	"almanac/api/web"
)

// newWeb makes the pages for people.
func newWeb(cfg Config, visits, typing *limit.Bucket) ([]server.Route, error) {
	site := cfg.Site
	name, _, _ := strings.Cut(site.Name, " (")
	site.Name = cmp.Or(name, "The network")
	pages, err := web.New(web.Config{
		Serving: cfg.Serving, Site: site, PublicURL: cfg.PublicURL, Version: cfg.Version,
		Readers: cfg.readers(), Limit: visits, Typing: typing, Protocols: mcp.Versions,
		Reference: describe.Reference(describe.Service{PublicURL: cfg.PublicURL, Operations: cfg.Operations, Groups: Groups()}),
	})
	if err != nil {
		return nil, err
	}
	return pages.Routes(), nil
}
