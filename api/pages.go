package api

import (
	"cmp"
	"strings"

	"almanac/api/edge"
	"almanac/api/kb"
	"almanac/api/kb/arg"
	"almanac/api/limit"
	"almanac/api/web"
)

// newWeb makes the pages for people.
func newWeb(cfg Config, bucket *limit.Bucket) ([]edge.Route, error) {
	var kinds []web.Kind
	for _, k := range kb.PageKinds {
		kinds = append(kinds, web.Kind{
			Name: string(k.Kind), Segment: k.Segment, One: k.One, Many: k.Many, Type: arg.TypeOf(k.Kind),
		})
	}
	name, _, _ := strings.Cut(cfg.Name, " (")
	pages, err := web.New(web.Config{
		Serving: cfg.Serving, Kinds: kinds, Name: cmp.Or(name, "The network"), PublicURL: cfg.PublicURL,
		Version: cfg.Version, Limit: bucket, Clicks: cfg.Clicks,
	})
	if err != nil {
		return nil, err
	}
	return pages.Routes()
}
