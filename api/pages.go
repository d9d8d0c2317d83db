package api

import (
	"cmp"
	"strings"

	"almanac/api/edge"
	"almanac/api/limit"
	"almanac/api/mcp"
	"almanac/api/reference"
	"almanac/api/web"
)

// newWeb makes the pages for people.
func newWeb(cfg Config, visits, typing *limit.Bucket) ([]edge.Route, error) {
	name, _, _ := strings.Cut(cfg.Name, " (")
	pages, err := web.New(web.Config{
		Serving: cfg.Serving, Name: cmp.Or(name, "The network"), About: cfg.Description, PublicURL: cfg.PublicURL,
		Readers: cfg.readers(), Version: cfg.Version, Limit: visits, Typing: typing, Clicks: cfg.Clicks,
		Proposals: cfg.Proposals, Items: cfg.Items, Now: cfg.Now, Protocols: mcp.Versions,
		Reference: reference.Groups(reference.Config{PublicURL: cfg.PublicURL, Operations: cfg.Operations, Groups: Groups()}),
	})
	if err != nil {
		return nil, err
	}
	return pages.Routes(), nil
}
