package api

import (
	"cmp"
	"net/http"
	"strings"

	"almanac/api/guard"
	"almanac/api/kb"
	"almanac/api/limit"
	"almanac/api/web"
)

// newWeb makes the pages for people. Their bucket answers a browser with a page
// as well.
func newWeb(cfg Config, bucket limit.Config) (site *web.Handler, pages *limit.Bucket, err error) {
	bucket.Refuse = func(w http.ResponseWriter, r *http.Request, status int, message string) {
		if web.Prefers(r) {
			site.RefuseLimited(w, r, status, message)
			return
		}
		guard.Refuse(w, status, message)
	}
	pages = limit.New(bucket)
	var kinds []web.Kind
	for _, k := range kb.PageKinds {
		kinds = append(kinds, web.Kind{
			Name: string(k.Kind), Segment: k.Segment, One: k.One, Many: k.Many, Type: kb.TypeOf(k.Kind),
		})
	}
	name, _, _ := strings.Cut(cfg.Name, " (")
	site, err = web.New(web.Config{
		Serving: cfg.Serving, Kinds: kinds, Name: cmp.Or(name, "The network"), PublicURL: cfg.PublicURL,
		Version: cfg.Version, Limit: pages,
	})
	return site, pages, err
}
