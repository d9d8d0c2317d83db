package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/html"

	"almanac/api"
	"almanac/api/kb"
	"almanac/api/kb/read"
	items "almanac/api/library"
	"almanac/api/meta"
	"almanac/api/op"
	"almanac/api/web"
	"almanac/catalog"
	"almanac/catalog/network"
	"almanac/catalog/sqlstore"
)

// visit asks for a page as a browser does.
func visit(h http.Handler, target string) *httptest.ResponseRecorder {
	return visitAs(h, target, "text/html,application/xhtml+xml,*/*;q=0.8")
}

func visitAs(h http.Handler, target, accept string) *httptest.ResponseRecorder {
	r := httptest.NewRequest("GET", target, nil)
	r.Header.Set("Accept", accept)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// pageLimit is the maximum of a page, in bytes.
const pageLimit = 60_000

// TestCrawl follows every link of the sample's pages.
func TestCrawl(t *testing.T) {
	if testing.Short() {
		t.Skip("walks over the sample")
	}
	l := openPreset(t, "sample", "")
	from := map[string]string{"/": "", "/results?q=node": "", "/live?q=node": "", "/sitemap.xml": "", "/robots.txt": "",
		"/llms.txt": "", "/opensearch.xml": "", "/?q=traffic+ballance": ""}
	queue := []string{}
	for p := range from {
		queue = append(queue, p)
	}
	slices.Sort(queue)
	pages := 0
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		w := visit(l.public, at)
		if w.Code >= 300 && w.Code < 400 {
			w.Body = bytes.NewBufferString(`<a href="` + html.EscapeString(w.Header().Get("Location")) + `">`)
		} else if w.Code != 200 {
			t.Errorf("%s, linked from %s: %d", at, from[at], w.Code)
			continue
		}
		if strings.HasPrefix(w.Header().Get("Content-Type"), "text/html") && w.Code == 200 &&
			!strings.HasPrefix(at, "/api/") {
			pages++
			checkPage(t, at, w)
		}
		for _, to := range linksOf(t, w, at) {
			if _, seen := from[to]; !seen && !deep(to) {
				from[to] = at
				queue = append(queue, to)
			}
		}
	}
	if pages < 1500 {
		t.Errorf("only %d pages were found", pages)
	}
}

// TestEveryAddressAnswersEveryType asks the whole table of pages, with a record of each
// kind, for every type: what has no such form answers in another.
func TestEveryAddressAnswersEveryType(t *testing.T) {
	l := open(t).ready(t)
	pages, err := web.New(web.Config{Serving: op.Serving{Operations: l.ops}})
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, rt := range pages.Routes() {
		paths = append(paths, "/"+strings.TrimPrefix(rt.Path, "/"))
	}
	found := map[string]bool{}
	for range 2 { // lists lead to records, and these to their tabs
		for _, at := range slices.Concat(paths, slices.Collect(maps.Keys(found))) {
			for _, to := range linksOf(t, visit(l.public, at), at) {
				path, _, _ := strings.Cut(to, "?")
				found[path] = true
			}
		}
	}
	parameter := regexp.MustCompile(`\\{\w+(\\\.){0,3}\\}`)
	for _, path := range paths {
		fits, at := regexp.MustCompile("^"+parameter.ReplaceAllString(regexp.QuoteMeta(path), "[^/]+")+"$"), path
		for link := range found {
			if fits.MatchString(link) {
				at = link
			}
		}
		for _, accept := range []string{"text/html", "text/markdown", "application/json", "image/png", "*/*", ""} {
			if w := visitAs(l.public, at+"?q=tide", accept); w.Code == http.StatusInternalServerError {
				t.Errorf("%s for %q: %d %.200s", at, accept, w.Code, w.Body)
			}
		}
	}
}

// deep reports whether an address is one of very many that filters make of one
// page, or no page: those with two parameters are not followed.
func deep(to string) bool {
	u, err := url.Parse(to)
	return err != nil || len(u.Query()) > 1 && u.Path != "/sitemap.xml" || strings.HasPrefix(u.Path, "/api/v1/") ||
		u.Path == "/feed.atom" && u.RawQuery != ""
}

// linksOf lists the addresses on this server that an answer names.
func linksOf(t *testing.T, w *httptest.ResponseRecorder, at string) (out []string) {
	t.Helper()
	base, _ := url.Parse(publicURL + at)
	add := func(address string) {
		u, err := base.Parse(address)
		if err != nil {
			t.Errorf("%s: %q: %v", at, address, err)
			return
		}
		if u.Fragment = ""; u.Scheme+"://"+u.Host == publicURL {
			out = append(out, u.RequestURI())
		}
	}
	if strings.Contains(w.Header().Get("Content-Type"), "xml") {
		for _, loc := range strings.Split(w.Body.String(), "<loc>")[1:] {
			loc, _, _ = strings.Cut(loc, "</loc>")
			add(html.UnescapeString(loc))
		}
		return out
	}
	if !strings.HasPrefix(w.Header().Get("Content-Type"), "text/html") && w.Code == 200 {
		return nil
	}
	z := html.NewTokenizer(bytes.NewReader(w.Body.Bytes()))
	for kind := z.Next(); kind != html.ErrorToken; kind = z.Next() {
		for _, a := range z.Token().Attr {
			if a.Key == "href" || a.Key == "src" || a.Key == "action" {
				add(a.Val)
			}
		}
	}
	return out
}

// void are elements that have no end.
var void = []string{"meta", "link", "input", "br", "hr"}

// checkPage holds what is true of every page.
func checkPage(t *testing.T, at string, w *httptest.ResponseRecorder) {
	t.Helper()
	if w.Body.Len() > pageLimit {
		t.Errorf("%s has %d bytes", at, w.Body.Len())
	}
	policy := w.Header().Get("Content-Security-Policy")
	for _, want := range []string{"default-src 'none'", "script-src 'self'", "style-src 'self'",
		"report-uri /csp-reports",
		"require-trusted-types-for 'script'", "frame-ancestors 'none'", "base-uri 'none'"} {
		if !strings.Contains(policy, want) {
			t.Errorf("%s: the policy lacks %s", at, want)
		}
	}
	if strings.Contains(policy, "unsafe") {
		t.Errorf("%s: %s", at, policy)
	}
	z := html.NewTokenizer(bytes.NewReader(w.Body.Bytes()))
	ids, headings := map[string]bool{}, 0
	var open []string
	for kind := z.Next(); kind != html.ErrorToken; kind = z.Next() {
		token := z.Token()
		switch last := len(open) - 1; {
		case token.Type == html.StartTagToken && !slices.Contains(void, token.Data):
			open = append(open, token.Data)
		case token.Type == html.EndTagToken && (last < 0 || open[last] != token.Data):
			t.Fatalf("%s: </%s> ends nothing in %v", at, token.Data, open)
		case token.Type == html.EndTagToken:
			open = open[:last]
		}
		if token.Type == html.StartTagToken && token.Data == "h1" {
			headings++
		}
		for _, a := range token.Attr {
			if strings.HasPrefix(a.Key, "on") || a.Key == "style" {
				t.Errorf("%s: <%s %s=%q>", at, token.Data, a.Key, a.Val)
			}
			if a.Key == "id" {
				if ids[a.Val] {
					t.Errorf("%s: the id %s stands twice", at, a.Val)
				}
				ids[a.Val] = true
			}
		}
	}
	if whole := !strings.HasPrefix(at, "/live"); whole && headings != 1 {
		t.Errorf("%s has %d first headings", at, headings)
	}
	if strings.Contains(w.Body.String(), "ZgotmplZ") || strings.Contains(w.Body.String(), "no value") {
		t.Errorf("%s: a value was left out of its template", at)
	}
}

// TestEveryRecordHasItsPage holds that page names the address that serves the
// record, and that the sections of a text can be linked to.
func TestEveryRecordHasItsPage(t *testing.T) {
	if testing.Short() {
		t.Skip("walks over the sample")
	}
	l := openPreset(t, "sample", "")
	for _, k := range kb.PageKinds {
		if k.Kind == catalog.KindEndpoint {
			continue // the sample has no description of an API: TestEndpoints
		}
		records, total, err := l.store.List(t.Context(),
			catalog.ListQuery{Kinds: []catalog.Kind{k.Kind}, Limit: 40, WithBody: true})
		if err != nil || total == 0 {
			t.Fatal(k.Kind, total, err)
		}
		for _, r := range records {
			page := strings.TrimPrefix(l.base.PageURL(r), publicURL)
			w := visit(l.public, page)
			canonical := publicURL + page
			if r.Kind.InThread() && r.Parent != 0 { // the thread has it too
				thread, err := l.store.ByID(t.Context(), r.Parent)
				if err != nil {
					t.Fatal(err)
				}
				canonical = l.base.PageURL(thread)
			}
			if w.Code != 200 || !strings.Contains(w.Body.String(), `<link rel="canonical" href="`+canonical+`">`) {
				t.Errorf("%s: %s: %d", r.Ref(), page, w.Code)
			}
			part, err := read.PartOf(t.Context(), l.base, r, "", "")
			if err != nil {
				t.Fatal(err)
			}
			if slices.Contains(ofParts, k.Kind) {
				continue
			}
			for _, h := range part.Outline {
				_, section, _ := strings.Cut(h.Read, "#")
				id := `id="s-` + html.EscapeString(section) + `"`
				if !strings.EqualFold(h.Heading, r.Title) && !strings.Contains(w.Body.String(), id) {
					t.Errorf("%s: no %s", page, id)
				}
			}
		}
	}
}

// ofParts show the texts of their parts and not their own.
var ofParts = []catalog.Kind{catalog.KindTopic, catalog.KindMailThread, catalog.KindDiscussion}

// TestPagesAreMarkdownToo reads pages as agents do.
func TestPagesAreMarkdownToo(t *testing.T) {
	l := open(t).ready(t)
	for target, want := range map[string]string{
		"/cips/0056.md":           "# CIP-0056 Tide oracle",
		"/cips.md":                "[Tide oracle](" + publicURL + "/cips/0056",
		"/index.md?q=tide+oracle": "/cips/0056",
		"/index.md":               "# Tidewater",
	} {
		w := visit(l.public, target)
		if w.Code != 200 || !strings.HasPrefix(w.Header().Get("Content-Type"), "text/markdown") ||
			!strings.Contains(w.Body.String(), want) || strings.Contains(w.Body.String(), "<") {
			t.Errorf("%s: %d %s\n%s", target, w.Code, w.Header().Get("Content-Type"), w.Body)
		}
	}
	if w := visitAs(l.public, "/cips/0056", "text/markdown"); !strings.Contains(w.Body.String(),
		"## Abstract\n\nTide oracle for the harbour.") {
		t.Errorf("by Accept: %s", w.Body)
	}
}

// TestMovedRecordsRedirect follows other names of a record.
func TestMovedRecordsRedirect(t *testing.T) {
	l := open(t).ready(t)
	topic := l.record(t, catalog.KindTopic, "1234")
	for target, want := range map[string]string{
		"/cips/56": "/cips/0056", "/cips/CIP-56": "/cips/0056", "/cips/PR-12": "/cips/0007",
		"/cips/PR-12/history":                    "/cips/0007/history",
		fmt.Sprintf("/discussions/%d", topic.ID): "/discussions/1234",
		fmt.Sprintf("/r/%d", topic.ID):           "/discussions/1234",
		"/r/0056":                                "/cips/0056",
		"/cips/PR-12.md":                         "/cips/0007.md",
	} {
		w := visit(l.public, target)
		if w.Code != http.StatusFound || w.Header().Get("Location") != want {
			t.Errorf("%s: %d %s, want %s", target, w.Code, w.Header().Get("Location"), want)
		}
	}
	w := visit(l.public, "/?q=cip-56")
	if w.Code != http.StatusSeeOther || w.Header().Get("Location") != "/cips/0056" {
		t.Errorf("an identifier: %d %s", w.Code, w.Header().Get("Location"))
	}
	if w := visit(l.public, "/?q=cip-56&type=doc"); w.Code != 200 {
		t.Errorf("an identifier among docs: %d", w.Code)
	}
}

// TestErrorsArePages asks as a browser and as a program.
func TestErrorsArePages(t *testing.T) {
	l := open(t)
	if w := visit(l.public, "/cips"); w.Code != 503 || !strings.Contains(w.Body.String(), "<progress") ||
		!strings.Contains(w.Body.String(), `http-equiv="refresh"`) || w.Header().Get("Retry-After") == "" {
		t.Errorf("loading: %d %s", w.Code, w.Body)
	}
	l.ready(t)
	for target, status := range map[string]int{
		"/cips/9999": 404, "/nothing/here": 404, "/cips?limit=0": 200, "/cips?status=Gone": 400, "/docs/1": 404,
		"/discussions/none": 404, "/?q=%FF": 200, "/posts/none": 404,
	} {
		w := visit(l.public, target)
		if w.Code != status || !strings.HasPrefix(w.Header().Get("Content-Type"), "text/html") {
			t.Errorf("%s: %d %s", target, w.Code, w.Header().Get("Content-Type"))
		}
	}
	for _, target := range []string{"/nothing/here", "/status", "/api/v1/nothing"} {
		if w := visitAs(l.public, target,
			"application/json"); w.Header().Get("Content-Type") != "application/json; charset=utf-8" {
			t.Errorf("%s as a program: %s", target, w.Header().Get("Content-Type"))
		}
	}
}

func TestLimitsArePages(t *testing.T) {
	l := open(t).ready(t)
	h, err := api.New(api.Config{
		Program: meta.Program{Serving: op.Serving{Operations: l.ops}, Version: "test"}, PublicURL: publicURL,
		AdminLoopback: true, Loopback: true, LimitSetting: func(string) string { return "set limit.web" },
		Limits: api.Limits{Web: 2},
	})
	if err != nil {
		t.Fatal(err)
	}
	local := func(target string) *httptest.ResponseRecorder { return visit(h.Public, "http://localhost"+target) }
	// What is typed is counted apart from pages.
	for n := range 22 {
		target := []string{"/live?q=tide", "/results?q=tide"}[n%2]
		if w := local(target); (w.Code == 429) != (n >= 20) || w.Code == 429 && w.Header().Get("Retry-After") == "" {
			t.Errorf("letter %d: %d", n, w.Code)
		}
	}
	local("/cips")
	local("/cips")
	w := local("/cips")
	if w.Code != 429 || w.Header().Get("Retry-After") == "" ||
		!strings.Contains(w.Body.String(), "<h1>That was a little fast</h1>") ||
		!strings.Contains(w.Body.String(), "There are more in 15 minutes.") ||
		strings.Contains(w.Body.String(), "limit.web") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if w := visitAs(h.Public, "http://localhost/feed.atom", "*/*"); w.Code != 429 || !json.Valid(w.Body.Bytes()) {
		t.Errorf("as a program: %d %s", w.Code, w.Body)
	}
	css := assetOf(t, w.Body.String())
	if w := local(css); w.Code != 200 || !strings.Contains(w.Header().Get("Cache-Control"), "immutable") {
		t.Errorf("%s: %d", css, w.Code)
	}
}

// assetOf finds the style sheet of a page.
func assetOf(t *testing.T, page string) string {
	t.Helper()
	_, rest, ok := strings.Cut(page, `rel="stylesheet" href="`)
	if !ok {
		t.Fatal("the page has no style sheet")
	}
	css, _, _ := strings.Cut(rest, `"`)
	return css
}

// TestSuggestionsAreNotCounted holds that the beginnings of words that somebody
// types are not what is searched for.
func TestSuggestionsAreNotCounted(t *testing.T) {
	l := open(t).ready(t)
	for _, h := range clients(5, l.public) {
		for _, target := range []string{"/live?q=tid", "/results?q=tide", "/?q=tide+oracle", "/?q=tide+oracle&offset=1"} {
			if w := visit(h, target); w.Code != 200 {
				t.Fatalf("%s: %d", target, w.Code)
			}
		}
	}
	l.ask(t, question{target: "/api/v1/searches/popular",
		want: fields{"total": 1, "items.0.query": "tide oracle", "items.0.count": 5}}, coverage{})
}

// TestEveryLetterFindsSomething: on the way to a word that has results, suggestions and results are never empty. The
// page itself answers the beginning of a word only if nothing has it as a word, as the interfaces of programs never do.
func TestEveryLetterFindsSomething(t *testing.T) {
	l := open(t).ready(t)
	for _, query := range []string{"oracle", "tide oracle", "harbour"} {
		for i := range query {
			begun := url.QueryEscape(query[:i+1])
			if w := visit(l.public, "/live?q="+begun); w.Code != 200 || !strings.Contains(w.Body.String(), `role="option"`) {
				t.Errorf("/live?q=%s: %d %s", begun, w.Code, w.Body)
			}
			for _, path := range []string{"/results?q=", "/?q="} {
				if w := visit(l.public, path+begun); w.Code != 200 || !strings.Contains(w.Body.String(), `class="hit"`) {
					t.Errorf("%s%s finds nothing: %d", path, begun, w.Code)
				}
			}
		}
	}
	if w := visit(l.public, "/?q=orac"); !strings.Contains(w.Body.String(), "begin with") {
		t.Error("the page does not say how it has read the beginning of a word")
	}
	l.ask(t, question{target: "/api/v1/search?q=orac", want: fields{"total": 0}}, coverage{})
	l.ask(t, question{target: "/api/v1/search?q=orac&typing=true&limit=1", want: fields{"items.#": 1}}, coverage{})
}

// TestAnIdentifierIsSuggestedOnce: as what Enter opens, however it is written.
func TestAnIdentifierIsSuggestedOnce(t *testing.T) {
	l := open(t).ready(t)
	for _, query := range []string{"CIP-56", "cip56", "cip 0056"} {
		w := visit(l.public, "/live?q="+url.QueryEscape(query))
		if n := strings.Count(w.Body.String(), `href="/cips/0056`); n != 1 {
			t.Errorf("%s: %d times in %s", query, n, w.Body)
		}
		if w := visit(l.public, "/?q="+url.QueryEscape(query)); w.Code != 303 || w.Header().Get("Location") != "/cips/0056" {
			t.Errorf("%s does not jump: %d %s", query, w.Code, w.Header().Get("Location"))
		}
	}
	if w := visit(l.public, "/live?q=tide+oracle"); !strings.Contains(w.Body.String(), "CIP-0056</") &&
		!strings.Contains(w.Body.String(), "· CIP-0056") {
		t.Errorf("a proposal is not named by its number: %s", w.Body)
	}
}

// TestSearchPage holds what the page says about a search.
func TestSearchPage(t *testing.T) {
	l := open(t).ready(t)
	for target, want := range map[string][]string{
		"/?q=tide+oracle": {`<mark>Tide</mark>`, `href="/cips/0056`,
			`name="robots" content="noindex"`, "newest first", `type=cip">Proposals`},
		"/?q=tide&type=cip":                       {`aria-current="true">Proposals`, `href="/?q=tide"`},
		"/?q=tide&since=2030-01-01":               {`aria-label="Remove the filter from 1 Jan 2030"`},
		"/?q=tide&sort=date":                      {"best first"},
		"/?q=orakle":                              {"search instead for", "%22orakle%22"},
		"/?q=tide+zorblatt":                       {`<mark>Tide</mark>`, `no document has &#34;zorblatt&#34;: what is listed`},
		"/?q=tide&type=forge":                     {`Of these`, `kind=`},
		"/?q=oracle+%22never+said%22":             {"results without", `href="/?q=oracle"`},
		"/?q=%22tide%22&since=2020-01-01":         {"What has no date is left out."},
		"/?q=xylophone+zebra":                     {"Nothing found", `href="/contents"`},
		"/?q=%22":                                 {"<h1"},
		"/?q=tide&until=x":                        {"This cannot be searched for", "Until must be"},
		"/?q=%3Cscript%3Ealert(1)%3C%2Fscript%3E": {"&lt;script&gt;alert(1)&lt;/script&gt;"},
	} {
		w := visit(l.public, target)
		for _, s := range want {
			if w.Code != 200 || !strings.Contains(w.Body.String(), s) {
				t.Errorf("%s: %d, no %s", target, w.Code, s)
			}
		}
		checkPage(t, target, w)
	}
}

// TestEnterKeepsTheFilters holds that the search field of a page of results asks with the filters
// in use, without a script too, and not with those that cannot be searched with.
func TestEnterKeepsTheFilters(t *testing.T) {
	l := open(t).ready(t)
	field := regexp.MustCompile(`(?s)<form class="field".*?</form>`)
	input := regexp.MustCompile(`(?s)<input [^>]*name="([^"]*)"\s+value="([^"]*)"`)
	for target, want := range map[string]string{
		"/?q=tide&type=cip&sort=date": "q=tide&sort=date&type=cip",
		"/?offset=0&q=tide+%22a%22&type=discussion&kind=topic&source=forum&since=2020-01-01&until=2040-01-01": "kind=topic&" +
			"q=tide+%22a%22&since=2020-01-01&source=forum&type=discussion&until=2040-01-01",
		"/?q=xylophone+zebra&type=doc": "q=xylophone+zebra&type=doc",
		"/?q=tide":                     "q=tide",
		"/?q=tide&type=cip&until=x":    "q=tide",
		"/?type=cip":                   "q=",
		"/cips?status=Final":           "q=",
	} {
		asked := url.Values{}
		for _, in := range input.FindAllStringSubmatch(field.FindString(visit(l.public, target).Body.String()), -1) {
			asked.Add(in[1], html.UnescapeString(in[2]))
		}
		if got := asked.Encode(); got != want {
			t.Errorf("Enter on %s asks for %s, want %s", target, got, want)
		}
	}
}

// TestFeedsAreWellFormed reads what machines read.
func TestFeedsAreWellFormed(t *testing.T) {
	l := open(t).ready(t)
	for target, want := range map[string]string{
		"/feed.atom": "http://www.w3.org/2005/Atom feed", "/feed.atom?q=tide": "http://www.w3.org/2005/Atom feed",
		"/sitemap.xml":          "http://www.sitemaps.org/schemas/sitemap/0.9 sitemapindex",
		"/sitemap.xml?kind=cip": "http://www.sitemaps.org/schemas/sitemap/0.9 urlset",
		"/opensearch.xml":       "http://a9.com/-/spec/opensearch/1.1/ OpenSearchDescription",
	} {
		var root struct{ XMLName xml.Name }
		w := visit(l.public, target)
		err := xml.Unmarshal(w.Body.Bytes(), &root)
		if got := root.XMLName.Space + " " + root.XMLName.Local; w.Code != 200 || err != nil || got != want {
			t.Errorf("%s: %d %v %s", target, w.Code, err, got)
		}
	}
	if w := visit(l.public, "/sitemap.xml?kind=cip"); !strings.Contains(w.Body.String(), "<loc>"+publicURL+
		"/cips/0056</loc>") {
		t.Errorf("sitemap: %s", w.Body)
	}
	if w := visit(l.public, "/sitemap.xml?kind=whale"); w.Code != 404 {
		t.Errorf("a sitemap of whales: %d", w.Code)
	}
}

type pageIn struct {
	Kind      string `json:"kind"`
	Container string `json:"container"`
	State     string `json:"state"`
	Source    string `json:"source"`
	Parent    string `json:"parent"`
	Order     string `json:"order"`
	Limit     int    `json:"limit"`
	Offset    int    `json:"offset"`
}

// TestASitemapIsBounded: of a million records one asks for ten lists, and not for ever.
func TestASitemapIsBounded(t *testing.T) {
	l := open(t).ready(t)
	lists, ops := 0, slices.Clone(l.ops)
	ops[slices.IndexFunc(ops, func(o op.Operation) bool { return o.ID == "list_records" })] = op.New(op.Spec{ID: "list_records", Tool: "list_records", Group: "library", Title: "Records",
		Summary: "Records"}, func(ctx context.Context, in pageIn) (kb.List[items.Row], error) {
		if _, ends := ctx.Deadline(); !ends {
			t.Error("a list has no time limit")
		}
		lists++
		return kb.List[items.Row]{Items: make([]items.Row, in.Limit), Total: 1_000_000}, nil
	})
	h, err := api.New(api.Config{PublicURL: publicURL, AdminLoopback: true,
		Program: meta.Program{Serving: op.Serving{Operations: ops}, Version: "test"}})
	if err != nil {
		t.Fatal(err)
	}
	if w := visit(h.Public, "/sitemap.xml?kind=doc&part=3"); w.Code != 200 || lists != 10 {
		t.Errorf("a sitemap is %d after %d lists", w.Code, lists)
	}
}

// TestAnEmptyFeedStaysTheSame reads it twice, while the clock goes on.
func TestAnEmptyFeedStaysTheSame(t *testing.T) {
	var seconds atomic.Int64
	l := serve(t, network.Network{Name: "reef", Title: "Reef", Proposals: tidewater},
		func() time.Time { return time.Unix(2_000_000_000+seconds.Add(1), 0) }, func(*sqlstore.Store) {})
	first, second := visit(l.ready(t).public, "/feed.atom"), visit(l.public, "/feed.atom")
	if first.Code != 200 || first.Body.String() != second.Body.String() {
		t.Errorf("%d %s, then %s", first.Code, first.Body, second.Body)
	}
}

// hostile is what strangers may write.
const hostile = "# <script>alert(1)</script>\n\n<img src=x onerror=alert(1)><svg " +
	"onload=alert(2)><style>*{display:none}</style>\n\n" +
	"[one](javascript:alert(3)) [two](data:text/html,x) ![three](https://evil.example/pixel.png) [four](  " +
	"JaVaScRiPt:alert(4)) " +
	"<https://fine.example/> [five](//evil.example/x) [six](vbscript:x)\n\n## Main {#main}\n\n## Main " +
	"{onclick=alert(5)}\n\n" +
	"a\u202eb \u2066c\n\n| a | b |\n|:-:|--:|\n| 1 | 2 |\n\n<div style=\"position:fixed\" id=main " +
	"class=masthead>over</div>\n\n"

// TestHostileTextIsInert publishes it as every kind of text.
func TestHostileTextIsInert(t *testing.T) {
	n := network.Network{Name: "harbour", Title: `Harbour <b onmouseover="x">`, Proposals: tidewater}
	text := hostile + strings.Repeat("x", 1<<20) + "\n\n" + hostile
	var keys []catalog.Ref
	l := serve(t, n, func() time.Time { return now }, func(store *sqlstore.Store) {
		var entries []catalog.Entry
		for _, k := range kb.PageKinds {
			info, _ := catalog.InfoOf(k.Kind)
			r := catalog.Record{
				Kind: k.Kind, Key: "evil-" + k.Segment, Title: `"><script>alert(6)</script>` + "\u202e" + `{{.}}`,
				Body: text, Data: zero(t, info),
				Author: `<img src=x onerror=alert(7)>`, URL: "javascript:alert(8)", State: `"><b>`,
				Container: "</title><script>",
				Summary:   hostile, Category: "';alert(9)//", CreatedAt: now,
			}
			if k.Kind == catalog.KindCIP {
				r.Key = "CIP-0066"
			}
			if k.Kind == catalog.KindTopic {
				r.Key = "666"
			}
			keys = append(keys, r.Ref())
			entries = append(entries, catalog.Entry{Record: r})
		}
		if _, err := store.Apply(context.Background(), catalog.Batch{Source: "evil", Entries: entries}); err != nil {
			t.Fatal(err)
		}
	}).ready(t)
	targets := []string{"/?q=alert", "/live?q=alert", "/changes", "/"}
	for _, ref := range keys {
		r, err := l.store.Head(t.Context(), ref)
		if err != nil {
			t.Fatal(err)
		}
		targets = append(targets, strings.TrimPrefix(l.base.PageURL(r), publicURL))
	}
	for _, k := range kb.PageKinds {
		targets = append(targets, "/"+k.Segment)
	}
	for _, target := range targets {
		w := visit(l.public, target)
		if w.Code != 200 {
			t.Errorf("%s: %d", target, w.Code)
			continue
		}
		checkPage(t, target, w)
		checkInert(t, target, w.Body.Bytes())
	}
}

func zero(t *testing.T, info catalog.KindInfo) json.RawMessage {
	t.Helper()
	return json.RawMessage("{}")
}

// checkInert holds that a page has our own elements alone, and that no link
// leads to a scheme that acts.
func checkInert(t *testing.T, at string, page []byte) {
	t.Helper()
	if bytes.ContainsAny(page, "\u202e\u2066") {
		t.Errorf("%s: a mark of direction is left", at)
	}
	z := html.NewTokenizer(bytes.NewReader(page))
	scripts := 0
	for kind := z.Next(); kind != html.ErrorToken; kind = z.Next() {
		token := z.Token()
		if token.Type != html.StartTagToken && token.Type != html.SelfClosingTagToken {
			continue
		}
		switch token.Data {
		case "img", "style", "iframe", "object", "embed", "base":
			t.Errorf("%s: %s", at, token)
		case "script":
			scripts++
		}
		for _, a := range token.Attr {
			if a.Key != "href" && a.Key != "src" && a.Key != "action" {
				continue
			}
			u, err := url.Parse(a.Val)
			if err != nil || u.Scheme != "" && u.Scheme != "http" && u.Scheme != "https" && u.Scheme != "mailto" {
				t.Errorf("%s: %s", at, token)
			}
		}
	}
	if scripts > 2 { // ours, and linked data
		t.Errorf("%s has %d scripts", at, scripts)
	}
}
