// Package web serves the pages for people. A page is a view of operations: a
// row of a table names its address, the operations it asks and its template. It
// decodes and runs them as package rest does, so that page and API cannot
// disagree.
package web

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"almanac/api/limit"
	"almanac/api/look"
	"almanac/api/op"
)

// Config of a Handler.
type Config struct {
	op.Serving
	Kinds     []Kind // in the order people see them
	Name      string // of the network, for people
	PublicURL string // without a slash at the end
	Version   string
	Now       func() time.Time
	// Limit counts every request but those of styles and scripts; nil = none.
	Limit *limit.Bucket
	// Clicks says that pages report which results are shown and opened.
	Clicks bool
}

// Kind is a kind of record.
type Kind struct {
	Name      string // as operations name it
	Segment   string // first segment of its addresses
	One, Many string // for people
	Type      string // search type
}

// Handler serves the pages.
type Handler struct {
	cfg   Config
	site  *look.Site
	pages *look.Templates
	mux   *http.ServeMux
	ops   map[string]op.Operation
	kinds map[string]Kind // by name
}

//go:embed pages
var pages embed.FS

// clicks is the script that reports; pages load it only where that is wanted.
//
//go:embed clicks
var clicks embed.FS

// New makes the handler. A page whose operations are not served is left out.
func New(cfg Config) (*Handler, error) {
	cfg.Serving = cfg.WithDefaults()
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	h := &Handler{cfg: cfg, ops: map[string]op.Operation{}, kinds: map[string]Kind{}, mux: http.NewServeMux()}
	for _, o := range cfg.Operations {
		h.ops[o.ID] = o
	}
	for _, k := range cfg.Kinds {
		h.kinds[k.Name] = k
	}
	site := look.Site{Name: cfg.Name, PublicURL: cfg.PublicURL, Version: cfg.Version, Nav: nav, More: more}
	var err error
	if cfg.Clicks {
		if site.Files, err = fs.Sub(clicks, "clicks"); err != nil {
			return nil, fmt.Errorf("web: %w", err)
		}
	}
	if h.site, err = look.New(site); err != nil {
		return nil, fmt.Errorf("web: %w", err)
	}
	dir, err := fs.Sub(pages, "pages")
	if err != nil {
		return nil, fmt.Errorf("web: %w", err)
	}
	if h.pages, err = h.site.Parse(dir, h.funcs()); err != nil {
		return nil, fmt.Errorf("web: %w", err)
	}
	return h, h.route()
}

// nav are the sections of the masthead, more those of the footer.
var (
	nav = []look.Link{
		{Title: "Proposals", Path: "/cips"}, {Title: "Docs", Path: "/docs"}, {Title: "Discussions", Path: "/discussions"},
		{Title: "Changes", Path: "/changes"}, {Title: "Deadlines", Path: "/deadlines"}, {Title: "Network", Path: "/network"},
	}
	more = []look.Link{
		{Title: "Everything here", Path: "/contents"}, {Title: "Status", Path: "/status"},
		{Title: "API reference", Path: "/api/v1/reference"}, {Title: "For agents", Path: "/llms.txt"},
	}
)

// route adds every row, and what is not a page of operations.
func (h *Handler) route() error {
	for _, r := range h.rows() {
		if slices.ContainsFunc(r.ask, func(a ask) bool { return h.ops[a.op].ID == "" }) {
			continue
		}
		if !h.pages.Has(r.template) {
			return fmt.Errorf("web: %s has no template %s", r.path, r.template)
		}
		h.mux.Handle("GET "+r.path, h.counted(func(w http.ResponseWriter, q *http.Request) { h.serve(w, q, r) }))
	}
	for path, serve := range map[string]http.HandlerFunc{
		"/feed.atom": h.feed, "/sitemap.xml": h.sitemap, "/robots.txt": h.robots, "/llms.txt": h.llms,
		"/opensearch.xml": h.openSearch, "/favicon.ico": h.icon,
	} {
		h.mux.Handle("GET "+path, h.counted(serve))
	}
	h.mux.Handle("GET "+look.AssetPath, h.site.Assets())
	return nil
}

// counted counts the calls of each client.
func (h *Handler) counted(serve http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if h.passes(w, r) {
			serve(w, r)
		}
	})
}

// Route returns the pattern that serves a request; "" if none does.
func (h *Handler) Route(r *http.Request) string {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		return ""
	}
	if r.URL.Path == "/status" && !Prefers(r) {
		return "" // programs get JSON
	}
	_, pattern := h.mux.Handler(r)
	if r2, ok := asMarkdownPath(r); pattern == "" && ok {
		_, pattern = h.mux.Handler(r2)
	}
	return pattern
}

// ServeHTTP implements http.Handler.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if p := r.URL.Path; len(p) > 1 && strings.HasSuffix(p, "/") && !strings.HasPrefix(p, look.AssetPath) {
		r = withPath(r, strings.TrimRight(p, "/"))
	}
	if _, pattern := h.mux.Handler(r); pattern == "" {
		if r2, ok := asMarkdownPath(r); ok {
			r = r2
		}
	}
	if _, pattern := h.mux.Handler(r); pattern == "" {
		h.NotFound(w, r)
		return
	}
	h.mux.ServeHTTP(w, r)
}

// asMarkdownPath is a request for the Markdown of the page whose address a .md
// has been added to; false if none has.
func asMarkdownPath(r *http.Request) (*http.Request, bool) {
	path, ok := strings.CutSuffix(r.URL.Path, ".md")
	if forced, _ := r.Context().Value(markdownKey{}).(bool); !ok || forced {
		return nil, false
	}
	if path == "/index" {
		path = "/"
	}
	return withPath(r, path).WithContext(context.WithValue(r.Context(), markdownKey{}, true)), true
}

func withPath(r *http.Request, path string) *http.Request {
	r2 := new(http.Request)
	*r2 = *r
	u := *r.URL
	u.Path, u.RawPath = path, ""
	r2.URL = &u
	return r2
}

// Prefers reports whether a client asks for a page rather than for data.
func Prefers(r *http.Request) bool {
	html := weight(r, "text/html")
	return html > 0 && html >= weight(r, "application/json")
}

// weight is that of a media type that a client names (RFC 9110 12.5.1), 0 if it
// does not.
func weight(r *http.Request, name string) float64 {
	for part := range strings.SplitSeq(strings.Join(r.Header.Values("Accept"), ","), ",") {
		media, params, err := mime.ParseMediaType(part)
		if err != nil || media != name {
			continue
		}
		if q, err := strconv.ParseFloat(params["q"], 64); err == nil {
			return q
		}
		return 1
	}
	return 0
}

// markdownKey marks a request for a page's Markdown in its context.
type markdownKey struct{}

func wantsMarkdown(r *http.Request) bool {
	if forced, _ := r.Context().Value(markdownKey{}).(bool); forced {
		return true
	}
	return weight(r, "text/markdown") > weight(r, "text/html")
}
