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
	"net/http"
	"slices"
	"strings"
	"time"

	"almanac/api/describe"
	"almanac/api/kb"
	"almanac/api/limit"
	"almanac/api/look"
	"almanac/api/op"
	"almanac/api/server"
	"almanac/catalog"
	"almanac/catalog/network"
)

// Config of a Handler.
type Config struct {
	op.Serving
	Site
	PublicURL string // without a slash at the end
	Version   string
	Protocols []string           // versions of the tool protocol that are served
	Reference []describe.Section // what the pages about the API describe
	Readers   server.Origins     // pages of these may read suggestions
	// Limit counts every request but those of styles and scripts, and Typing those that
	// a page makes as one types; nil = none.
	Limit, Typing *limit.Bucket
}

// Site is what the pages have of the network, and how they show it.
type Site struct {
	Name      string // of the network, for people
	About     string // what the network is; its first sentence is at the foot of every page
	Proposals network.Proposals
	Now       func() time.Time // nil = the system's clock
	// Items are the records that references name, for links in texts; nil: texts have none.
	Items func(context.Context, []catalog.Ref) (map[catalog.Ref]kb.Item, error)
	// Clicks says that pages report which results are shown and opened.
	Clicks bool
}

// kinds are those of records by the names that operations have for them.
var kinds = func() map[string]kb.PageKind {
	all := map[string]kb.PageKind{}
	for _, k := range kb.PageKinds {
		all[string(k.Kind)] = k
	}
	return all
}()

// Handler serves the pages.
type Handler struct {
	cfg   Config
	site  *look.Site
	pages *look.Templates
	ops   map[string]op.Operation
	rows  []row
	ask   questions

	recipes []recipe
}

//go:embed pages
var pages embed.FS

// clicks is the script that reports; pages load it only where that is wanted.
//
//go:embed clicks
var clicks embed.FS

// New makes the handler. A server of none of the operations that pages ask has no
// pages; one that lacks some is an error, as is whatever else is misspelt in the table.
func New(cfg Config) (*Handler, error) {
	cfg.Serving = cfg.WithDefaults()
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	h := &Handler{cfg: cfg, ops: map[string]op.Operation{}}
	for _, o := range cfg.Operations {
		h.ops[o.ID] = o
	}
	site := look.Site{Name: cfg.Name, PublicURL: cfg.PublicURL, Version: cfg.Version, More: more,
		About: firstSentence(cfg.About), Proposals: cfg.Proposals}
	table := allPages()
	var err error
	if cfg.Clicks {
		if site.Files, err = fs.Sub(clicks, "clicks"); err != nil {
			return nil, fmt.Errorf("web: %w", err)
		}
	}
	if h.site, err = look.New(site); err != nil {
		return nil, fmt.Errorf("web: %w", err)
	}
	if h.pages, err = h.site.Parse(pages, h.funcs(), "pages/shared.html", "pages/*.html"); err != nil {
		return nil, fmt.Errorf("web: %w", err)
	}
	served := func(a ask) bool { return h.ops[a.op].ID != "" }
	if !slices.ContainsFunc(table, func(rw row) bool { return slices.ContainsFunc(rw.ask, served) }) {
		return h, nil
	}
	for _, rw := range table {
		if rw, err = h.compile(rw); err != nil {
			return nil, fmt.Errorf("web: %w", err)
		}
		h.rows = append(h.rows, rw)
	}
	if h.recipes, err = h.readRecipes(recipesFile); err != nil {
		return nil, fmt.Errorf("web: %w", err)
	}
	if h.ask, err = h.questions(); err != nil {
		return nil, fmt.Errorf("web: %w", err)
	}
	return h, nil
}

// firstSentence is the first sentence of a text.
func firstSentence(text string) string {
	if first, _, more := strings.Cut(text, ". "); more {
		return first + "."
	}
	return text
}

// more are the links of the footer.
var more = []look.Link{
	{Title: "Everything here", Path: "/contents"}, {Title: "Recipes", Path: recipesPath},
	{Title: "Connect", Path: "/connect"},
	{Title: "Status", Path: "/status"},
	{Title: "API reference", Path: "/api/v1/reference"}, {Title: "For agents", Path: "/llms.txt"},
}

// sections are those that the masthead can name, the most wanted first. Of a section
// that lists records of a kind there must be one.
var sections = []struct {
	look.Link
	of catalog.Kind
}{
	{look.Link{Title: "Proposals", Path: "/cips"}, catalog.KindCIP},
	{look.Link{Title: "Docs", Path: "/docs"}, catalog.KindDoc},
	{look.Link{Title: "Discussions", Path: "/discussions"}, catalog.KindTopic},
	{look.Link{Title: "Changes", Path: "/changes"}, ""},
	{look.Link{Title: "Deadlines", Path: "/deadlines"}, catalog.KindOperation},
	{look.Link{Title: "Network", Path: "/network"}, catalog.KindValidator},
	{look.Link{Title: "Grants", Path: "/grants"}, catalog.KindGrant},
	{look.Link{Title: "Releases", Path: "/releases"}, catalog.KindRelease},
	{look.Link{Title: "Radar", Path: "/radar"}, catalog.KindRadar},
	{look.Link{Title: "Blog", Path: "/blog"}, catalog.KindBlog},
}

// inMasthead is how many sections a masthead has room for.
const inMasthead = 6

// nav are the sections that are not empty.
func (h *Handler) nav(ctx context.Context) (all []look.Link) {
	if len(h.rows) == 0 {
		return nil
	}
	held := h.held(ctx)
	for _, s := range sections {
		if len(all) < inMasthead && (s.of == "" || slices.Contains(held, s.of)) {
			all = append(all, s.Link)
		}
	}
	return all
}

// held are the kinds that have records.
func (h *Handler) held(ctx context.Context) (all []catalog.Kind) {
	answer, _, err := h.ask.sources.ask(ctx, nil, nil)
	if err != nil {
		h.cfg.Log.DebugContext(ctx, "what has records is not known", "error", err)
	}
	for _, s := range answer.Sources {
		if s.Count > 0 {
			all = append(all, catalog.Kind(s.Type))
		}
	}
	return all
}

// Routes are the rows, what is not a page of operations, and the page that says that
// there is none.
func (h *Handler) Routes() (all []server.Route) {
	add := func(path string, serve func(*http.Request) (*server.Answer, error)) {
		inTime := func(r *http.Request) (*server.Answer, error) {
			ctx, cancel := context.WithTimeout(r.Context(), h.cfg.Timeout)
			defer cancel()
			return serve(r.WithContext(ctx))
		}
		all = append(all, server.Route{Method: http.MethodGet, Path: path, Serve: inTime, Limit: h.cfg.Limit, Page: true,
			Headers: varies, Refuse: h.refuse})
	}
	for _, rw := range h.rows {
		add(rw.path, func(r *http.Request) (*server.Answer, error) { return h.serve(r, rw, false) })
		if rw.quiet {
			all[len(all)-1].Limit = h.cfg.Typing
		}
		if rw.path == "/status" {
			all[len(all)-1].When = Prefers // programs get JSON
		}
		if !strings.HasSuffix(rw.path, "}") && rw.part == "" {
			add(markdownPath(rw.path), func(r *http.Request) (*server.Answer, error) { return h.serve(r, rw, true) })
		}
	}
	if own := h.proposals(); own != "" {
		for _, path := range []string{"", "/{id}"} {
			add(own+path, func(r *http.Request) (*server.Answer, error) {
				to := proposalsPath + strings.TrimPrefix(r.URL.EscapedPath(), own)
				return &server.Answer{Status: http.StatusMovedPermanently, Goto: h.site.At(to)}, nil
			})
		}
	}
	if len(h.rows) > 0 {
		add("/mcp", h.toConnect)
		all[len(all)-1].When = Prefers // programs are told to POST
		add("/suggest", h.suggest)
		all[len(all)-1].Headers, all[len(all)-1].Limit = h.cfg.Readers.Share, h.cfg.Typing
		add("/search-box.js", h.searchBox)
		all[len(all)-1].Limit = nil
		h.forAgents(add)
		add("/feed.atom", h.feed)
		add("/sitemap.xml", h.sitemap)
	}
	add("/robots.txt", h.robots)
	add("/llms.txt", h.llms)
	add("/opensearch.xml", h.openSearch)
	add("/favicon.ico", h.icon)
	add("", func(*http.Request) (*server.Answer, error) {
		return nil, op.NotFound("Nothing is at this address. It may have moved: search for its words.")
	})
	missing := &all[len(all)-1]
	missing.Name = "page not found"
	missing.When = func(r *http.Request) bool { return Prefers(r) && !strings.HasPrefix(r.URL.Path+"/", "/api/") }
	return append(all, h.site.Assets())
}

// proposalsPath has the network's proposals, whatever it calls them.
const proposalsPath = "/cips"

// proposals is where somebody who knows the network looks for its proposals, such as
// /eips; "" if a page is there.
func (h *Handler) proposals() string {
	own := "/" + strings.ToLower(h.cfg.Proposals.Prefix) + "s"
	if own == "/s" || slices.ContainsFunc(h.rows, func(rw row) bool {
		return own == rw.path || strings.HasPrefix(rw.path,
			own+"/")
	}) {
		return ""
	}
	return own
}

// varies says that an address has a page and its Markdown.
func varies(h http.Header, _ *http.Request) { h.Add("Vary", "Accept") }

// Prefers reports whether a client asks for a page rather than for data.
func Prefers(r *http.Request) bool {
	html, data := weight(r, "text/html"), weight(r, "application/json")
	return html > 0 && html >= data
}

// weight is that of a media type that a client names, 0 if it does not.
func weight(r *http.Request, mediaType string) float64 {
	if weight, named := server.Accepts(r, mediaType); named {
		return weight
	}
	return 0
}

func asksForMarkdown(r *http.Request) bool {
	return weight(r, "text/markdown") > weight(r, "text/html")
}

// hasSuffix reports whether a .md has been added to the address of a page, or is the
// end of it.
func hasSuffix(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, ".md") }

// withoutSuffix is a request for the page itself.
func withoutSuffix(r *http.Request) *http.Request {
	r2, u := *r, *r.URL
	u.Path, u.RawPath = strings.TrimSuffix(u.Path, ".md"), ""
	if u.Path == "/index" {
		u.Path = "/"
	}
	r2.URL = &u
	r2.SetPathValue("id", strings.TrimSuffix(r.PathValue("id"), ".md"))
	return &r2
}
