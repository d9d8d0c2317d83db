package webpage

import (
	"cmp"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"time"

	"golang.org/x/net/html"

	"almanac/text/dates"
	"almanac/text/webaddress"
)

// head is the content of a page's head, from weaker to stronger statements.
type head struct {
	base *url.URL
	page Page
	meta map[string][]string // name or property → contents
	data []map[string]any    // JSON-LD objects of articles
}

// maxTags is the maximum number of tags and authors of a page.
const maxTags = 50

func readHead(root *html.Node, base *url.URL) head {
	h := head{base: base, meta: map[string][]string{}}
	title := ""
	for e := range Elements(root) {
		switch e.Data {
		case "html":
			h.page.Language = strings.TrimSpace(Attr(e, "lang"))
		case "base":
			if u, err := base.Parse(Attr(e, "href")); err == nil && webaddress.Of(u) {
				h.base = u
			}
		case "title":
			if title == "" && !Within(e, "svg") {
				title = Line(e)
			}
		case "meta":
			name := strings.ToLower(cmp.Or(Attr(e, "property"), Attr(e, "name"), Attr(e, "itemprop")))
			if value := strings.TrimSpace(Attr(e, "content")); name != "" && value != "" {
				h.meta[name] = append(h.meta[name], value)
			}
		case "link":
			if slices.Contains(strings.Fields(strings.ToLower(Attr(e, "rel"))), "canonical") && h.page.Canonical == "" {
				h.page.Canonical = h.address(Attr(e, "href"))
			}
		case "script":
			if strings.HasPrefix(strings.ToLower(Attr(e, "type")), "application/ld+json") && e.FirstChild != nil {
				h.readData(e.FirstChild.Data)
			}
		}
	}
	h.finish(title, root)
	return h
}

func (h *head) finish(title string, root *html.Node) {
	p := &h.page
	p.Title = cmp.Or(h.first("og:title", "twitter:title"), h.text("headline"), h.withoutSite(title))
	p.Description = cmp.Or(h.first("description", "og:description", "twitter:description"), h.text("description"))
	p.Canonical = cmp.Or(p.Canonical, h.address(h.first("og:url")))
	p.Image = h.address(cmp.Or(h.first("og:image:secure_url", "og:image", "twitter:image"), h.image()))
	p.Published = cmp.Or(date(h.text("datePublished")),
		date(h.first("article:published_time", "datepublished", "date", "dc.date", "pubdate")), published(root))
	p.Modified = cmp.Or(date(h.text("dateModified")),
		date(h.first("article:modified_time", "og:updated_time", "datemodified", "last-modified")))
	p.Authors = h.authors()
	p.Tags = unique(append(h.meta["article:tag"], splitList(h.first("keywords", "news_keywords"))...))
	p.Language = cmp.Or(p.Language, strings.ReplaceAll(h.first("og:locale"), "_", "-"))
	for _, v := range append(h.meta["robots"], h.meta["googlebot"]...) {
		p.Hidden = p.Hidden || Unindexed(v)
	}
}

// Unindexed reports whether the rules of a robots meta element or X-Robots-Tag
// header exclude a page from all indexes.
func Unindexed(rules string) bool {
	for rule := range strings.SplitSeq(strings.ToLower(rules), ",") {
		if rule = strings.TrimSpace(rule); rule == "noindex" || rule == "none" {
			return true
		}
	}
	return false
}

// withoutSite removes the site's name from a document's title ("Tides | The
// Causeway"): the part after the last separator, if it is the site name given
// by the page or, if none is given, if the separator is a bar or the part is
// the shorter one.
func (h *head) withoutSite(title string) string {
	for _, separator := range []string{" | ", " – ", " — ", " · ", " :: ", " - "} {
		at := strings.LastIndex(title, separator)
		if at <= 0 {
			continue
		}
		page, site := title[:at], title[at+len(separator):]
		if name := h.first("og:site_name", "application-name"); strings.EqualFold(site, name) ||
			name == "" && (separator == " | " || len(site) <= len(page)) {
			return page
		}
	}
	return title
}

func (h *head) first(names ...string) string {
	for _, n := range names {
		if values := h.meta[n]; len(values) > 0 {
			return strings.Join(strings.Fields(values[0]), " ")
		}
	}
	return ""
}

// address makes an address in the page absolute; "" if it is not a web address.
func (h *head) address(raw string) string {
	if raw = strings.TrimSpace(raw); raw == "" {
		return ""
	}
	u, err := h.base.Parse(raw)
	if err != nil || !webaddress.Of(u) {
		return ""
	}
	u.User, u.Fragment = nil, ""
	return u.String()
}

// readData keeps the objects of a JSON-LD script that describe an article or
// page (schema.org).
func (h *head) readData(raw string) {
	var value any
	if json.Unmarshal([]byte(raw), &value) != nil {
		return // many pages have broken ones
	}
	var visit func(v any, depth int)
	visit = func(v any, depth int) {
		switch v := v.(type) {
		case []any:
			for _, item := range v {
				visit(item, depth+1)
			}
		case map[string]any:
			if depth < 4 {
				visit(v["@graph"], depth+1)
				visit(v["mainEntity"], depth+1)
			}
			for _, t := range strs(v["@type"]) {
				if strings.HasSuffix(t, "Article") || strings.HasSuffix(t, "Posting") || t == "Report" {
					h.data = append(h.data, v)
					break
				}
			}
		}
	}
	visit(value, 0)
}

// text is the first value of a property of the article.
func (h *head) text(property string) string {
	for _, d := range h.data {
		if v := strs(d[property]); len(v) > 0 {
			return strings.Join(strings.Fields(v[0]), " ")
		}
	}
	return ""
}

func (h *head) image() string {
	for _, d := range h.data {
		if v := named(d["image"], "url"); len(v) > 0 {
			return v[0]
		}
	}
	return ""
}

// authors are the people who wrote the page. Profile addresses are not names.
func (h *head) authors() []string {
	var names []string
	for _, d := range h.data {
		names = append(names, named(d["author"], "name")...)
	}
	if len(names) == 0 {
		names = append(names, h.meta["author"]...)
		names = append(names, h.meta["article:author"]...)
	}
	return unique(slices.DeleteFunc(names, func(n string) bool { return strings.Contains(n, "://") }))
}

// strs returns the strings of a value that is a string or a list of strings.
func strs(v any) []string {
	switch v := v.(type) {
	case string:
		return []string{v}
	case []any:
		var out []string
		for _, item := range v {
			if s, ok := item.(string); ok {
				out = append(out, s)
			}
		}
		return out
	}
	return nil
}

// named returns the strings of a value that is a string, an object with the
// property, or a list of either.
func named(v any, property string) []string {
	switch v := v.(type) {
	case string:
		return []string{v}
	case map[string]any:
		return strs(v[property])
	case []any:
		var out []string
		for _, item := range v {
			if _, list := item.([]any); !list {
				out = append(out, named(item, property)...)
			}
		}
		return out
	}
	return nil
}

func splitList(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ';' })
}

// unique trims the strings of a list and drops empty and repeated ones.
func unique(list []string) []string {
	var out []string
	for _, s := range list {
		s = strings.Join(strings.Fields(s), " ")
		if s != "" && !slices.ContainsFunc(out, func(o string) bool { return strings.EqualFold(o, s) }) &&
			len(out) < maxTags {
			out = append(out, s)
		}
	}
	return out
}

// published returns the date of the first <time> in the page's article.
func published(root *html.Node) time.Time {
	for e := range Elements(root) {
		if e.Data == "time" && Within(e, "article", "main") {
			if t := date(Attr(e, "datetime")); !t.IsZero() {
				return t
			}
		}
	}
	return time.Time{}
}

// date reads a date; zero if it is not valid.
func date(s string) time.Time { return dates.At(s, dates.Day|dates.Local|dates.Instant|dates.Free) }
