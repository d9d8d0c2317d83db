package site_test

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"almanac/catalog"
	"almanac/ingest/site"
	"almanac/testing/connectortest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const words = "The foundation keeps the gates of the causeway open to everybody and publishes what it spends, " +
	"quarter by quarter, in a report that anybody can read and check. "

// website imitates a site of pages with a sitemap.
type website struct {
	mu     sync.Mutex
	files  map[string]file // by path
	server *connectortest.Server
	config connectortest.Config
}

type file struct{ contentType, body, lastMod, to string }

// newSite has so many pages, and a sitemap of them.
func newSite(t *testing.T, n int) *website {
	w := &website{files: map[string]file{}}
	for i := range n {
		w.page(fmt.Sprintf("/about/page-%d/", i+1), "", words)
	}
	w.server = connectortest.NewServer(t, w)
	w.config = connectortest.Config{Kind: site.Kind, Options: map[string]any{"url": w.server.URL,
		"name": "Causeway Foundation"}}
	return w
}

func (w *website) page(path, head, text string) {
	title := strings.Trim(path, "/")
	w.files[path] = file{contentType: "text/html; charset=utf-8", lastMod: "2031-05-06", body: fmt.Sprintf(
		`<!doctype html><html><head><title>%s | Foundation</title>%s</head><body><nav>Home</nav><main><h1>About %s</h1><p>%s</p></main></body></html>`, title, head, title, text)}
}

// change edits the site; what it changes is changed for the sitemap too.
func (w *website) change(f func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f()
}

func (w *website) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f, ok := w.files[r.URL.Path]
	switch {
	case f.to != "":
		http.Redirect(rw, r, f.to, http.StatusMovedPermanently)
		return
	case ok:
	case r.URL.Path == "/sitemap.xml":
		f = file{contentType: "application/xml", body: w.sitemap()}
	default:
		http.NotFound(rw, r)
		return
	}
	rw.Header().Set("Content-Type", f.contentType)
	if strings.HasPrefix(r.URL.Path, "/unindexed/") {
		rw.Header().Set("X-Robots-Tag", "noarchive, noindex")
	}
	rw.Header().Set("Last-Modified", "Tue, 06 May 2031 00:00:00 GMT")
	tag := fmt.Sprintf(`W/"%d-%s"`, len(f.body), f.lastMod)
	rw.Header().Set("ETag", tag)
	if r.Header.Get("If-None-Match") == tag {
		rw.WriteHeader(http.StatusNotModified)
		return
	}
	_, _ = rw.Write([]byte(f.body))
}

func (w *website) sitemap() string {
	var b strings.Builder
	b.WriteString(`<?xml version="1.0" encoding="UTF-8"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">`)
	for _, path := range slices.Sorted(maps.Keys(w.files)) {
		if f := w.files[path]; strings.HasSuffix(path, "/") {
			fmt.Fprintf(&b, "<url><loc>%s%s</loc>", w.server.URL, path)
			if f.lastMod != "" {
				fmt.Fprintf(&b, "<lastmod>%s</lastmod>", f.lastMod)
			}
			b.WriteString("</url>")
		}
	}
	return b.String() + "</urlset>"
}

// key is the natural key of a page of the server.
func (w *website) key(path string) string {
	return strings.TrimPrefix(w.server.URL, "http://") + "/" + path
}

func (w *website) keys(kind string, paths ...string) []string {
	var keys []string
	for _, p := range paths {
		keys = append(keys, kind+" "+w.key(p))
	}
	return keys
}

func TestFoundation(t *testing.T) {
	w := newSite(t, 2)
	w.page("/about/board/", `<meta name="description" content="Who sits on the board."><meta property="article:modified_time" content="2031-05-01T10:00:00Z">`, words+"See CWP-12.")
	r := connectortest.NewSource(t, w.config).Sync()
	if diff := cmp.Diff(w.keys("foundation", "about/board", "about/page-1", "about/page-2"), r.Keys()); diff != "" {
		t.Fatalf("(-want +got)\n%s", diff)
	}
	rec := r.Get(t, catalog.KindFoundation, w.key("about/board"))
	want := catalog.Record{
		Title: "About about/board", URL: w.server.URL + "/about/board/", Container: "Causeway Foundation",
		Category: "about", Summary: "Who sits on the board.",
		Body: "# About about/board\n\n" + words + "See CWP-12.", UpdatedAt: time.Date(2031, 5, 1, 10, 0, 0, 0,
			time.UTC),
	}
	got := catalog.Record{
		Title: rec.Title, URL: rec.URL, Container: rec.Container, Category: rec.Category, Summary: rec.Summary,
		Body: rec.Body, UpdatedAt: rec.UpdatedAt,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if diff := cmp.Diff(catalog.Foundation{Section: "about", Facts: []catalog.Fact{}},
		connectortest.Data[catalog.Foundation](t, rec)); diff != "" {
		t.Errorf("data (-want +got)\n%s", diff)
	}
}

func TestDocsFromLLMs(t *testing.T) {
	w := newSite(t, 0)
	w.files["/llms.txt"] = file{contentType: "text/plain; charset=utf-8", body: `# Causeway docs

> All of it.

## Operate
- [Install](/docs/2.1/install.md): How to install a keeper.
- [Upgrade](docs/upgrade.html.md)
* [Elsewhere](https://other.example.org/x.md)
- no link

## Optional
- [Notes](/docs/notes.md "Notes")
- [Install again](/docs/2.1/install)
`}
	w.files["/docs/2.1/install.md"] = file{contentType: "text/markdown",
		body: "---\ntitle: Install a keeper\n---\n\n" + words + "\n\n```sh\nkeeper install\n```\n"}
	w.files["/docs/upgrade.html.md"] = file{contentType: "text/plain", body: words + "\n"}
	w.files["/docs/notes.md"] = file{contentType: "text/plain",
		body: "<!doctype html><title>Notes</title><main><h1>Notes</h1><p>" + words + "</main>"}
	w.config.Options["llms"], w.config.Options["kind"] = w.server.URL+"/llms.txt", "doc"
	s := connectortest.NewSource(t, w.config)
	r := s.Sync()
	if diff := cmp.Diff(w.keys("doc", "docs/2.1/install", "docs/notes", "docs/upgrade"), r.Keys()); diff != "" {
		t.Fatalf("(-want +got)\n%s", diff)
	}
	rec := r.Get(t, catalog.KindDoc, w.key("docs/2.1/install"))
	if rec.Title != "Install a keeper" || rec.Summary != "How to install a keeper." || rec.Category != "Operate" ||
		!strings.Contains(rec.Body, "```sh\nkeeper install\n```") {
		t.Errorf("%+v", rec)
	}
	want := catalog.Doc{Format: "markdown", Section: "Operate", Version: "2.1", Description: "How to install a keeper."}
	if diff := cmp.Diff(want, connectortest.Data[catalog.Doc](t, rec)); diff != "" {
		t.Errorf("data (-want +got)\n%s", diff)
	}
	if up := r.Get(t, catalog.KindDoc, w.key("docs/upgrade")); up.Title != "Upgrade" ||
		up.URL != w.server.URL+"/docs/upgrade.html" {
		t.Errorf("title %q, url %s", up.Title, up.URL)
	}
	if notes := r.Get(t, catalog.KindDoc, w.key("docs/notes")); !strings.HasPrefix(notes.Body, "# Notes") ||
		connectortest.Data[catalog.Doc](t, notes).Format != "html" {
		t.Errorf("%+v", notes)
	}
	connectortest.Unchanged(t, s, r)
	w.server.Fault("/llms.txt", -1, connectortest.Empty)
	if bad := s.Try(t.Context()); bad.Err == nil || bad.Changes != 0 {
		t.Errorf("an empty list: %v, %d changes", bad.Err, bad.Changes)
	}
}

func TestOnlyWhatChangedIsRead(t *testing.T) {
	w := newSite(t, 12)
	s := connectortest.NewSource(t, w.config)
	s.Sync()
	w.server.Paths()
	w.change(func() {
		w.page("/about/page-3/", "", "Changed. "+words)
		f := w.files["/about/page-3/"]
		f.lastMod = "2031-05-07"
		w.files["/about/page-3/"] = f
		w.page("/about/new/", "", words)
		delete(w.files, "/about/page-4/")
		w.page("/about/page-5/", "", "Changed, but the sitemap does not know. "+words)
	})
	r := s.Sync()
	if diff := cmp.Diff([]string{"GET /about/new/", "GET /about/page-3/", "GET /robots.txt", "GET /sitemap.xml"},
		w.server.Paths()); diff != "" {
		t.Errorf("requests (-want +got)\n%s", diff)
	}
	if r.Created != 1 || r.Updated != 1 || r.Deleted != 1 || r.Changes != 3 {
		t.Errorf("%d created, %d updated, %d deleted, %d changes", r.Created, r.Updated, r.Deleted, r.Changes)
	}
	s.Clock = s.Clock.Add(8 * 24 * time.Hour)
	if r = s.Sync(); r.Updated != 1 {
		t.Errorf("%d updated by the sweep", r.Updated)
	}
	connectortest.Unchanged(t, s, r)
}

func TestCopiesAndWhatIsNotToBeIndexed(t *testing.T) {
	w := newSite(t, 1)
	w.page("/", "", words)
	w.page("/copy/", `<link rel="canonical" href="/about/page-1">`, words)
	w.page("/own/", `<link rel="canonical" href="https://elsewhere.example.org/own">`, words)
	w.page("/template/", `<link rel="canonical" href="/">`, words)
	w.page("/hidden/", `<meta name="robots" content="noindex">`, words)
	w.page("/unindexed/", "", words)
	w.page("/private/x/", "", words)
	w.page("/tag/x/", "", words)
	w.page("/empty/", "", "")
	w.files["/empty/"] = file{contentType: "text/html", body: "<div id=app></div><script>start()</script>"}
	w.files["/moved/"] = file{to: "/about/page-1/"}
	w.files["/gone/"] = file{to: "/"}
	w.files["/elsewhere/"] = file{to: "/new-place"}
	w.files["/new-place"] = file{contentType: "text/html", body: "<main><p>" + words + "</main>"}
	w.files["/robots.txt"] = file{contentType: "text/plain", body: "User-agent: *\nDisallow: /private/\n"}
	w.config.Options["exclude"] = []string{"/tag/**"}
	s := connectortest.NewSource(t, w.config)
	r := s.Sync()
	front := "foundation " + strings.TrimPrefix(w.server.URL, "http://")
	want := append([]string{front}, w.keys("foundation", "about/page-1", "elsewhere", "own", "template")...)
	if diff := cmp.Diff(want, r.Keys()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if u := r.Get(t, catalog.KindFoundation, w.key("elsewhere")).URL; u != w.server.URL+"/new-place" {
		t.Errorf("url %s", u)
	}
	address := func(path string) string { return w.server.URL + "/" + path }
	reasons := map[string]string{
		w.key("copy"):   "not read: it calls itself a copy of " + address("about/page-1"),
		w.key("hidden"): noindex, w.key("unindexed"): noindex,
		w.key("private/x"): "not read: robots.txt asks not to read it",
		w.key("moved"):     "not read: its address leads to " + address("about/page-1/"),
		w.key("gone"):      "not read: its address leads to " + address(""),
		w.key("empty"):     "the page has no text; perhaps it needs a browser to be read",
	}
	if diff := cmp.Diff(reasons, skipped(r)); diff != "" || r.Skipped != len(reasons) {
		t.Errorf("%d skipped (-want +got)\n%s", r.Skipped, diff)
	}
	for _, p := range w.server.Paths() {
		if strings.Contains(p, "/private/") || strings.Contains(p, "/tag/") {
			t.Errorf("requested %s", p)
		}
	}
	again := s.Sync()
	if again.Changes != 0 || again.Cursor != r.Cursor {
		t.Errorf("%d changes", again.Changes)
	}
	if diff := cmp.Diff(reasons, skipped(again)); diff != "" {
		t.Errorf("skipped by a run that reads nothing new (-want +got)\n%s", diff)
	}
}

const noindex = "not read: it asks search engines to leave it out (noindex)"

// skipped are the items that a run left out, with the reasons.
func skipped(r connectortest.Result) map[string]string {
	reasons := map[string]string{}
	for _, p := range r.Problems {
		if p.Skipped {
			reasons[p.Locator] = p.Message
		}
	}
	return reasons
}

func TestSitemapsOfSitemaps(t *testing.T) {
	w := newSite(t, 15)
	w.files["/robots.txt"] = file{contentType: "text/plain",
		body: "User-agent: *\nAllow: /\nSitemap: " + w.server.URL + "/index.xml\n"}
	list := func(tag string, paths ...string) file {
		b := "<" + map[string]string{"sitemap": "sitemapindex", "url": "urlset"}[tag] + ">"
		for _, p := range paths {
			b += "<" + tag + "><loc>" + w.server.URL + p + "</loc></" + tag + ">"
		}
		return file{contentType: "text/xml", body: b + "</" + map[string]string{"sitemap": "sitemapindex",
			"url": "urlset"}[tag] + ">"}
	}
	var first, second []string
	for i := range 15 {
		if p := fmt.Sprintf("/about/page-%d/", i+1); i < 10 {
			first = append(first, p)
		} else {
			second = append(second, p, p) // duplicates
		}
	}
	w.files["/index.xml"] = list("sitemap", "/one.xml", "/two.xml", "/index.xml") // lists itself
	w.files["/one.xml"], w.files["/two.xml"] = list("url", first...), list("url", second...)
	s := connectortest.NewSource(t, w.config)
	r := s.Sync()
	if len(r.Records) != 15 {
		t.Fatalf("%d pages", len(r.Records))
	}
	// One part of the list is missing: its pages stay.
	w.server.Fault("/two.xml", -1, connectortest.Halved)
	w.change(func() { w.files["/one.xml"] = list("url", first[:9]...) })
	if r = s.Sync(); len(r.Records) != 15 || r.Skipped != 1 {
		t.Errorf("part of the list: %d pages, %v", len(r.Records), r.Problems)
	}
	w.server.Fault("/one.xml", -1, connectortest.Status(500))
	if bad := s.Try(t.Context()); bad.Err == nil || bad.Changes != 0 {
		t.Errorf("none of the list: %v", bad.Err)
	}
	w.server.Heal()
	if r = s.Sync(); len(r.Records) != 14 {
		t.Errorf("healed: %d pages, want the one less that the list has", len(r.Records))
	}
	w.config.Options["max_pages"] = 5
	if r = connectortest.NewSource(t, w.config).Sync(); len(r.Records) != 5 || r.Warned != 1 {
		t.Errorf("max_pages: %d pages, %v", len(r.Records), r.Problems)
	}
}

func TestSuite(t *testing.T) {
	connectortest.Run(t, func(t *testing.T) connectortest.Upstream {
		w := newSite(t, 3)
		return connectortest.Upstream{Config: w.config, Server: w.server,
			Change: func() {
				w.change(func() {
					f := w.files["/about/page-2/"]
					f.body, f.lastMod = strings.ReplaceAll(f.body, "quarter", "month"), "2031-05-07"
					w.files["/about/page-2/"] = f
				})
			},
			Drop: func(s *connectortest.Source) {
				s.Options["name"] = "The Foundation"
				w.change(func() { delete(w.files, "/about/page-1/") })
			},
		}
	})
}

func TestOptions(t *testing.T) {
	const u = "https://www.example.org/"
	for problem, o := range map[string]map[string]any{
		"the option url is missing": {}, "url: is not a web address": {"url": "www.example.org"},
		`kind: unknown value "video"`: {"url": u, "kind": "video"}, "only one": {"url": u, "sitemap": u, "llms": u},
		"sitemap: is not": {"url": u, "sitemap": "x"}, "llms: is not": {"url": u, "llms": "file:///x"},
		"max_pages: 0 is less than 1": {"url": u, "max_pages": 0}, "sweep: 0s": {"url": u, "sweep": "0s"},
		"did you mean": {"url": u, "sitemaps": u},
	} {
		if err := connectortest.Open(site.Kind, o); err == nil || !strings.Contains(err.Error(), problem) {
			t.Errorf("%v: %v, want %q", o, err, problem)
		}
	}
}
