package feed_test

import (
	"fmt"
	"html"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"almanac/ingest/feed"
	"almanac/testing/connectortest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// blog imitates a publishing program: a feed of its newest posts and a page
// for each.
type blog struct {
	mu     sync.Mutex
	posts  []*fakePost // newest first
	size   int         // posts that the feed lists
	paged  bool        // older posts are on further pages of the feed
	etags  bool
	extra  string // in the channel
	server *connectortest.Server
	config connectortest.Config
}

type fakePost struct {
	slug, title, text, excerpt string
	content                    string // content:encoded
	gone                       bool
	movedTo                    string
	extra                      string // in the item
	day                        int
}

const words = "The harbour keeps its tally of every hull that passes the second gate, and writes it down twice so " +
	"that nobody has to trust one keeper alone. "

// newBlog makes a blog with n posts, the first of them the oldest.
func newBlog(t *testing.T, n int) *blog {
	b := &blog{size: 10, etags: true}
	for i := range n {
		b.add(i + 1)
	}
	b.server = connectortest.NewServer(t, b)
	b.config = connectortest.Config{Kind: feed.Kind,
		Options: map[string]any{"url": b.server.URL + "/feed/", "site": "Causeway Journal"}}
	return b
}

func (b *blog) add(i int) *fakePost {
	p := &fakePost{
		slug: fmt.Sprintf("post-%d", i), title: fmt.Sprintf("Post %d", i),
		text:    strings.Repeat(fmt.Sprintf("Entry %d. ", i)+words, 3),
		excerpt: fmt.Sprintf("What entry %d tells of the second gate, in one line.", i), day: i,
	}
	b.posts = slices.Insert(b.posts, 0, p)
	return p
}

func (b *blog) change(f func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	f()
}

func (b *blog) find(slug string) *fakePost {
	for _, p := range b.posts {
		if p.slug == slug {
			return p
		}
	}
	panic("no post " + slug)
}

func (b *blog) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if r.URL.Path == "/feed/" {
		page := 1
		_, _ = fmt.Sscan(r.URL.Query().Get("paged"), &page)
		b.serve(w, r, "application/rss+xml; charset=UTF-8", b.rss(page))
		return
	}
	i := slices.IndexFunc(b.posts, func(p *fakePost) bool { return r.URL.Path == "/"+p.slug+"/" })
	switch {
	case r.URL.Path == "/":
		b.serve(w, r, "text/html", "<h1>Journal</h1>")
	case i < 0 || b.posts[i].gone:
		http.NotFound(w, r)
	case b.posts[i].movedTo != "":
		http.Redirect(w, r, b.posts[i].movedTo, http.StatusMovedPermanently)
	default:
		b.serve(w, r, "text/html; charset=UTF-8", b.page(b.posts[i]))
	}
}

func (b *blog) serve(w http.ResponseWriter, r *http.Request, contentType, body string) {
	w.Header().Set("Content-Type", contentType)
	if b.etags {
		tag := fmt.Sprintf(`"%x"`, fnv(body))
		w.Header().Set("ETag", tag)
		if r.Header.Get("If-None-Match") == tag {
			w.WriteHeader(http.StatusNotModified)
			return
		}
	}
	_, _ = w.Write([]byte(body))
}

func fnv(s string) (h uint64) {
	for _, c := range []byte(s) {
		h = h*1099511628211 ^ uint64(c)
	}
	return h
}

func (p *fakePost) published() time.Time {
	return time.Date(2031, 1, 1, 8, 0, 0, 0, time.UTC).AddDate(0, 0, p.day)
}

// rss has the form that WordPress writes.
func (b *blog) rss(page int) string {
	var s strings.Builder
	s.WriteString(`<?xml version="1.0" encoding="UTF-8"?><rss version="2.0"
	xmlns:content="http://purl.org/rss/1.0/modules/content/" xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:atom="http://www.w3.org/2005/Atom">
<channel><title>Causeway Journal</title><link>` + b.server.URL + `</link><language>en-GB</language>
<atom:link href="` + b.server.URL + `/feed/" rel="self" type="application/rss+xml" />` + b.extra)
	first := (page - 1) * b.size
	if b.paged && first+b.size < len(b.posts) {
		fmt.Fprintf(&s, `<atom:link rel="next" href="%s/feed/?paged=%d" />`, b.server.URL, page+1)
	}
	for _, p := range b.posts[min(first, len(b.posts)):min(first+b.size, len(b.posts))] {
		fmt.Fprintf(&s, `<item><title>%s</title><link>%s/%s/?utm_source=rss</link><dc:creator><![CDATA[Ada Quay]]></dc:creator>
<pubDate>%s</pubDate><category><![CDATA[Bridges & tides]]></category><guid isPermaLink="false">%s/?p=%d</guid>
<description><![CDATA[<p>%s</p><p>The post <a href="#">%s</a> appeared first on <a href="#">Journal</a>.</p>]]></description>%s%s</item>`,
			html.EscapeString(p.title), b.server.URL, p.slug, p.published().Format(time.RFC1123Z), b.server.URL, p.day,
			p.excerpt, p.title, p.extra,
			map[bool]string{true: "", false: "<content:encoded><![CDATA[" + p.content +
				"]]></content:encoded>"}[p.content == ""])
	}
	return s.String() + "</channel></rss>"
}

func (b *blog) page(p *fakePost) string {
	return fmt.Sprintf(`<!doctype html><html lang="en-GB"><head><title>%s</title><link rel="canonical" href="%s/%s/">
<meta property="article:modified_time" content="%s"></head><body><nav>Home</nav><article><h1>%s</h1><p>%s</p></article></body></html>`,
		html.EscapeString(p.title), b.server.URL, p.slug, p.published().Add(time.Hour).Format(time.RFC3339),
		html.EscapeString(p.title), p.text)
}
