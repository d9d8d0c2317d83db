package web

import (
	"bytes"
	"cmp"
	"encoding/xml"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"almanac/api/kb"
	"almanac/api/look"
	"almanac/api/op"
	"almanac/api/server"
	"almanac/api/tally"
	"almanac/catalog"
)

// atom is a feed (RFC 4287).
type atom struct {
	XMLName xml.Name    `xml:"http://www.w3.org/2005/Atom feed"`
	ID      string      `xml:"id"`
	Title   string      `xml:"title"`
	Updated string      `xml:"updated"`
	Links   []atomLink  `xml:"link"`
	Author  atomAuthor  `xml:"author"`
	Entries []atomEntry `xml:"entry"`
}

type atomLink struct {
	Rel  string `xml:"rel,attr,omitempty"`
	Type string `xml:"type,attr,omitempty"`
	Href string `xml:"href,attr"`
}

type atomAuthor struct {
	Name string `xml:"name"`
}

type atomEntry struct {
	ID      string     `xml:"id"`
	Title   string     `xml:"title"`
	Updated string     `xml:"updated"`
	Links   []atomLink `xml:"link"`
	Summary string     `xml:"summary,omitempty"`
}

// undated is when what has no date was updated: a feed must say so.
const undated = "1970-01-01T00:00:00Z"

// feed serves what is new, or with a query the newest results.
func (h *Handler) feed(r *http.Request) (*server.Answer, error) {
	query := r.URL.Query()
	f := atom{
		ID: h.site.Absolute("/feed.atom"), Title: h.cfg.Name + ": what is new", Author: atomAuthor{h.cfg.Name},
		Links: []atomLink{
			{"self", "application/atom+xml", h.site.Absolute(r.URL.RequestURI())},
			{"alternate", "text/html", h.site.Absolute("/changes")},
		},
	}
	var err error
	if q := query.Get("q"); q != "" {
		f.Title = h.cfg.Name + ": " + q
		f.ID = h.site.Absolute("/feed.atom?" + url.Values{"q": {q}}.Encode())
		f.Links[1].Href = h.site.Absolute("/?" + query.Encode())
		f.Entries, err = h.foundEntries(r, query)
	} else {
		f.Entries, err = h.changedEntries(r)
	}
	if err != nil {
		return nil, err
	}
	for _, e := range f.Entries {
		f.Updated = max(f.Updated, e.Updated)
	}
	f.Updated = cmp.Or(f.Updated, undated) // nothing is new: no more at each reading
	return h.xml("application/atom+xml; charset=utf-8", f)
}

func (h *Handler) changedEntries(r *http.Request) (out []atomEntry, err error) {
	stream, _, err := h.ask.changes.ask(r.Context(), nil, nil)
	for _, a := range stream.Items {
		page := h.site.Absolute("/r/" + url.PathEscape(a.ID))
		at := a.When.UTC().Format(time.RFC3339)
		out = append(out, atomEntry{
			ID: page + "#" + a.Kind + "-" + at, Title: said(a.Kind) + ": " + a.Title, Updated: at,
			Summary: look.Plain(a.Summary), Links: []atomLink{{"alternate", "text/html", page}},
		})
	}
	return out, err
}

func (h *Handler) foundEntries(r *http.Request, query url.Values) (out []atomEntry, err error) {
	ctx := tally.Uncounted(r.Context())
	answer, _, err := h.ask.newest.ask(ctx, nil, query)
	for _, x := range answer.Items {
		out = append(out, atomEntry{
			ID: x.Page, Title: x.Title, Updated: cmp.Or(isoOf(x.Date), undated),
			Summary: look.Legible(x.Snippet),
			Links:   []atomLink{{"alternate", "text/html", x.Page}},
		})
	}
	return out, err
}

// news are kinds of changes in words.
var news = map[string]string{
	"cip_status_change": "Status changed", "new_cip": "New proposal", "new_proposal": "New grant proposal",
	"new_forum_topic": "New discussion", "new_blog_post": "New post", "new_release": "New release",
	"new_radar_item": "New alert",
}

func said(kind string) string { return cmp.Or(news[kind], look.Words(kind)) }

// urlSet is a sitemap (sitemaps.org 0.9).
type urlSet struct {
	XMLName xml.Name  `xml:"http://www.sitemaps.org/schemas/sitemap/0.9 urlset"`
	URLs    []siteURL `xml:"url"`
}

type siteURL struct {
	Loc     string `xml:"loc"`
	LastMod string `xml:"lastmod,omitempty"`
}

// sitemapSize is the maximum of addresses of one file, which ten lists have; the protocol's
// is 50,000.
const sitemapSize = 1_000

// sitemap serves the index of sitemaps, one for each kind and one for all other pages, or
// with ?kind= and ?part= one of them.
func (h *Handler) sitemap(r *http.Request) (*server.Answer, error) {
	kind := r.URL.Query().Get("kind")
	switch kind {
	case "":
		return h.sitemapIndex(r)
	case noKind:
		return h.sitemapOfPages(r)
	}
	if _, ok := kinds[kind]; !ok {
		return nil, op.NotFound("there is no kind %.40q", kind)
	}
	part, _ := strconv.Atoi(r.URL.Query().Get("part"))
	part = min(max(part, 0), 10_000)
	var set urlSet
	if part == 0 {
		set.URLs = append(set.URLs, siteURL{Loc: h.site.Absolute("/" + kinds[kind].Segment)})
	}
	for offset := part * sitemapSize; offset < (part+1)*sitemapSize; offset += 100 {
		vars := map[string]string{"kind": kind, "offset": strconv.Itoa(offset)}
		list, _, err := h.ask.records.ask(r.Context(), vars, nil)
		if err != nil {
			return nil, err
		}
		for _, x := range list.Items {
			set.URLs = append(set.URLs, siteURL{x.Page, isoOf(x.Date)})
		}
		if offset+100 >= list.Total {
			break
		}
	}
	return h.xml("application/xml; charset=utf-8", set)
}

// noKind stands for a kind in the sitemap of the pages that list no records.
const noKind = "pages"

func (h *Handler) sitemapOfPages(r *http.Request) (*server.Answer, error) {
	var set urlSet
	for _, rw := range h.rows {
		if rw.kind.Kind == "" && !rw.noIndex && !strings.Contains(rw.path, "{") {
			set.URLs = append(set.URLs, siteURL{Loc: h.site.Absolute(rw.path)})
		}
	}
	for _, rc := range h.possible(r.Context()) {
		set.URLs = append(set.URLs, siteURL{Loc: h.site.Absolute(rc.Path())})
	}
	return h.xml("application/xml; charset=utf-8", set)
}

func (h *Handler) sitemapIndex(r *http.Request) (*server.Answer, error) {
	type index struct {
		XMLName  xml.Name  `xml:"http://www.sitemaps.org/schemas/sitemap/0.9 sitemapindex"`
		Sitemaps []siteURL `xml:"sitemap"`
	}
	answer, _, err := h.ask.sources.ask(r.Context(), nil, nil)
	if err != nil {
		return nil, err
	}
	out := index{Sitemaps: []siteURL{{Loc: h.site.Absolute("/sitemap.xml?kind=" + noKind)}}}
	for _, s := range answer.Sources {
		if catalog.Kind(s.Type).InThread() { // their threads have them
			continue
		}
		for part := 0; part*sitemapSize < s.Count; part++ {
			loc := h.site.Absolute("/sitemap.xml?kind=" + s.Type)
			if part > 0 {
				loc += "&part=" + strconv.Itoa(part)
			}
			out.Sitemaps = append(out.Sitemaps, siteURL{Loc: loc})
		}
	}
	return h.xml("application/xml; charset=utf-8", out)
}

func (h *Handler) xml(kind string, v any) (*server.Answer, error) {
	var out bytes.Buffer
	out.WriteString(xml.Header)
	if err := xml.NewEncoder(&out).Encode(v); err != nil {
		return nil, err
	}
	return h.answer(kind, look.Inert(out.Bytes())), nil
}

// robots keeps crawlers out of what has no end.
func (h *Handler) robots(r *http.Request) (*server.Answer, error) {
	text := "User-agent: *\nDisallow: " + h.site.At("/?") + "\nDisallow: " + h.site.At("/results") + "\nDisallow: " +
		h.site.At("/live") + "\nDisallow: " + h.site.At("/api/") + "\nAllow: " + h.site.At("/api/v1/reference") +
		"\nCrawl-delay: 2\n\nSitemap: " + h.site.Absolute("/sitemap.xml") + "\n"
	return h.answer("text/plain; charset=utf-8", []byte(text)), nil
}

// llms tells language models what is here and how to read it (llmstxt.org).
func (h *Handler) llms(r *http.Request) (*server.Answer, error) {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	at := h.site.Absolute
	line("# %s almanac\n", h.cfg.Name)
	line("> What is known of %s: improvement proposals, documentation, discussions, releases, grants,", h.cfg.Name)
	line("> the state of the network and its market. Every answer names its source.\n")
	line("[How to connect a client, a program or a site](%s)", at("/connect.md"))
	line("Every page is Markdown too: add .md to its address, or ask for text/markdown.")
	line("Search: %s\n", at("/index.md?q=WORDS"))
	line("## Tools and API\n")
	line("- [MCP endpoint](%s): the same as tools, over streamable HTTP", at("/mcp"))
	line("- [Which tool when](%s): a skill for agents", at("/skill.md"))
	line("- [OpenAPI description](%s)", at("/api/v1/openapi.json"))
	line("- [Reference of the API](%s)\n", at("/api/v1/reference"))
	line("## Lists\n")
	for _, k := range kb.PageKinds {
		line("- [%s](%s)", k.Many, at("/"+k.Segment+".md"))
	}
	line("\n## The network as it is\n")
	for _, rw := range h.rows {
		if rw.kind.Kind == "" && rw.lede != "" {
			line("- [%s](%s): %s", rw.title, at(rw.path+".md"), rw.lede)
		}
	}
	return h.answer("text/plain; charset=utf-8", []byte(b.String())), nil
}

// openSearch describes the search to browsers (OpenSearch 1.1).
func (h *Handler) openSearch(r *http.Request) (*server.Answer, error) {
	type address struct {
		Type     string `xml:"type,attr"`
		Rel      string `xml:"rel,attr,omitempty"`
		Template string `xml:"template,attr"`
	}
	type image struct {
		Type   string `xml:"type,attr"`
		Width  int    `xml:"width,attr"`
		Height int    `xml:"height,attr"`
		URL    string `xml:",chardata"`
	}
	type description struct {
		XMLName     xml.Name  `xml:"http://a9.com/-/spec/opensearch/1.1/ OpenSearchDescription"`
		ShortName   string    `xml:"ShortName"`
		Description string    `xml:"Description"`
		Encoding    string    `xml:"InputEncoding"`
		Image       image     `xml:"Image"`
		URLs        []address `xml:"Url"`
	}
	icon, err := h.site.Asset("icon.svg")
	if err != nil {
		return nil, err
	}
	return h.xml("application/opensearchdescription+xml; charset=utf-8", description{
		ShortName: short(16, h.cfg.Name), Description: "Search the knowledge base of " + h.cfg.Name, Encoding: "UTF-8",
		Image: image{"image/svg+xml", 32, 32, h.site.Absolute(icon)},
		URLs: []address{
			{"text/html", "", h.site.Absolute("/?q={searchTerms}")},
			{"application/x-suggestions+json", "", h.site.Absolute("/suggest?q={searchTerms}")},
			{"application/atom+xml", "", h.site.Absolute("/feed.atom?q={searchTerms}")},
			{"application/opensearchdescription+xml", "self", h.site.Absolute("/opensearch.xml")},
		},
	})
}

// icon leads browsers that ask for the usual name to the icon.
func (h *Handler) icon(r *http.Request) (*server.Answer, error) {
	icon, err := h.site.Asset("icon.svg")
	if err != nil {
		return nil, err
	}
	return &server.Answer{Status: http.StatusFound, Goto: icon}, nil
}

// short cuts a text after n characters.
func short(n int, text string) string {
	runes := []rune(strings.Join(strings.Fields(text), " "))
	if len(runes) <= n {
		return string(runes)
	}
	return string(runes[:n-1]) + "…"
}

// isoOf writes a time as RFC 3339; "" for none.
func isoOf(t *time.Time) string {
	if t == nil {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}
