package api_test

import (
	"encoding/json"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"almanac/catalog"
	"almanac/catalog/network"
	"almanac/catalog/sqlstore"
)

// shoal is a knowledge base that nothing was added to for years: two proposals, one
// of which needs the other, and a grant.
func shoal(t *testing.T) *library {
	t.Helper()
	n := network.Network{Name: "shoal", Title: "Shoal", Proposals: lagoon,
		Description: "The Shoal is fiction. It stands beside no sea."}
	proposal := func(key, raw, state, body string, links ...catalog.Link) catalog.Entry {
		r := catalog.Record{Kind: catalog.KindCIP, Key: key, Title: "Of " + key, Source: "lips", State: state,
			CreatedAt: ago(900), Body: body}
		var err error
		if r.Data, err = catalog.Encode(catalog.CIP{RawStatus: raw}); err != nil {
			t.Fatal(err)
		}
		return catalog.Entry{Record: r, Links: links}
	}
	return serve(t, n, func() time.Time { return now }, func(store *sqlstore.Store) {
		b := catalog.Batch{Source: "lips", Entries: []catalog.Entry{
			proposal("LIP-001", "Approved", "Review", "Boats wait for the tide."),
			proposal("LIP-002", "Parked", "Withdrawn", "The tide lights every lamp.", catalog.Link{Relation: catalog.Requires,
				To: ref(catalog.KindCIP, "LIP-001")}),
			{Record: catalog.Record{Kind: catalog.KindGrant, Key: "7", Title: "Lamps", Source: "lips", CreatedAt: ago(800)}},
		}, Events: []catalog.Event{{Ref: ref(catalog.KindCIP, "LIP-001"), Field: "status", At: ago(850), From: "Draft",
			To: "Review", RawFrom: "Draft", RawTo: "Approved"}}}
		if _, err := store.Apply(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}).ready(t)
}

// TestDocumentationHasNeighbours holds that a page leads to those of its folder, to every
// other folder, to the page before and after in its repository and to all of that, and to no
// other repository.
func TestDocumentationHasNeighbours(t *testing.T) {
	n := network.Network{Name: "pier", Title: "Pier", Proposals: lagoon}
	doc := func(repository, file, title string) catalog.Entry {
		return catalog.Entry{Record: catalog.Record{Kind: catalog.KindDoc, Key: repository + "/" + file, Path: file,
			Title: title, Source: "docs", Container: repository, Body: title + " is written down here."}}
	}
	l := serve(t, n, func() time.Time { return now }, func(store *sqlstore.Store) {
		b := catalog.Batch{Source: "docs", Entries: []catalog.Entry{doc("pier/book", "guide/anchor.md", "Anchors"),
			doc("pier/book", "guide/bollard.md", "Bollards"), doc("pier/book", "guide/chain.md", "Chains"),
			doc("pier/book", "guide/deep/er/eel.md", "Eels"), doc("pier/book", "log/day.md", "Days"), doc("pier/other", "guide/anchor.md", "Elsewhere")}}
		if _, err := store.Apply(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}).ready(t)
	for at, want := range map[string][2]string{ // beside it; before and after
		"guide/anchor.md":      {"guide/ Anchors Bollards Chains deep/ log/", "Bollards →"},
		"guide/bollard.md":     {"guide/ Anchors Bollards Chains deep/ log/", "← Anchors Chains →"},
		"guide/chain.md":       {"guide/ Anchors Bollards Chains deep/ log/", "← Bollards Eels →"},
		"guide/deep/er/eel.md": {"guide/ Anchors Bollards Chains deep/ Eels log/", "← Chains Days →"},
		"log/day.md":           {"guide/ log/ Days", "← Eels"},
	} {
		page := visit(l.public, "/docs/pier/book/"+at).Body.String()
		beside := strings.Join(textsOf(t, page, func(n *html.Node) bool {
			return n.Data == "a" && n.Parent.Parent.Parent.Data == "nav"
		}), " ")
		pager := strings.Join(textsOf(t, page, withClass("pager")), " ")
		if beside != want[0] || pager != want[1] {
			t.Errorf("%s: %q and %q, want %q", at, beside, pager, want)
		}
		if !strings.Contains(page, `<a href="/docs?source=pier%2Fbook"><bdi>pier/book</bdi></a>`) {
			t.Errorf("%s does not lead to its repository", at)
		}
	}
}

// textsOf are the texts of the elements of a page that fit.
func textsOf(t *testing.T, page string, fits func(*html.Node) bool) (all []string) {
	t.Helper()
	doc, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	for n := range doc.Descendants() {
		if n.Type != html.ElementNode || !fits(n) {
			continue
		}
		var text strings.Builder
		for d := range n.Descendants() {
			if d.Type == html.TextNode {
				text.WriteString(d.Data)
			}
		}
		all = append(all, strings.Join(strings.Fields(text.String()), " "))
	}
	return all
}

func withClass(name string) func(*html.Node) bool {
	return func(n *html.Node) bool {
		return slices.ContainsFunc(n.Attr, func(a html.Attribute) bool {
			return a.Key == "class" && slices.Contains(strings.Fields(a.Val), name)
		})
	}
}

// TestTheMastheadLeadsToWhatThereIs holds that no section of it is empty, also on a
// page that is not found, and that the latest changes are shown however old they are.
func TestTheMastheadLeadsToWhatThereIs(t *testing.T) {
	l := shoal(t)
	for _, at := range []string{"/", "/cips", "/no/such/page"} {
		sections := textsOf(t, visit(l.public, at).Body.String(), func(n *html.Node) bool {
			return n.Data == "a" && n.Parent.Data == "nav" && slices.Contains(n.Parent.Attr,
				html.Attribute{Key: "aria-label", Val: "Sections"})
		})
		if want := []string{"Proposals", "Changes", "Grants"}; !slices.Equal(sections, want) {
			t.Errorf("%s: %q, want %q", at, sections, want)
		}
	}
	for _, at := range []string{"/", "/changes"} {
		if page := visit(l.public, at).Body.String(); !strings.Contains(page, "Lamps") {
			t.Errorf("%s does not show the latest change", at)
		}
	}
	if page := visit(l.public, "/changes?days=7").Body.String(); strings.Contains(page, "Lamps") {
		t.Error("a week has a change of years ago")
	}
}

// TestStatusIsSaidInTheNetworksWords holds it for every page that shows a proposal.
func TestStatusIsSaidInTheNetworksWords(t *testing.T) {
	l := shoal(t)
	for at, want := range map[string][]string{
		"/":                 {"Approved"},
		"/changes":          {"Approved"},
		"/cips":             {"Parked", "Approved"},
		"/cips/001/history": {"Approved", "Approved", "Parked"}, // head, history, mentioned in
		"/cips/002":         {"Parked", "Approved", "Approved"}, // head, needs first, refers to
		"/?q=tide":          {"Approved", "Parked"},
	} {
		said := textsOf(t, visit(l.public, at).Body.String(), withClass("status"))
		slices.Sort(said)
		slices.Sort(want)
		if !slices.Equal(said, want) {
			t.Errorf("%s: %q, want %q", at, said, want)
		}
	}
}

// TestAPastedExclusionIsOffered: the page of a query that looks pasted leads to the one that
// leaves its word out.
func TestAPastedExclusionIsOffered(t *testing.T) {
	page := visit(shoal(t).public, "/?q=tide+--fast+-berths").Body.String()
	if want := `q=tide&#43;--fast&#43;-%22berths%22">without <em>berths</em></a>`; !strings.Contains(page, want) {
		_, notice, _ := strings.Cut(page, `<p class="notice">`)
		t.Errorf("no %s in %.200s", want, notice)
	}
}

// TestAnAnswerThatDependsOnAcceptSaysSo: a cache must not give a browser's page to a program.
func TestAnAnswerThatDependsOnAcceptSaysSo(t *testing.T) {
	l := shoal(t)
	for _, accept := range []string{"text/html", "application/json", ""} {
		vary := strings.Join(visitAs(l.public, "/status", accept).Header().Values("Vary"), ", ")
		if !slices.Contains(strings.Split(vary, ", "), "Accept") {
			t.Errorf("/status for %q varies by %q", accept, vary)
		}
	}
}

// TestTheSearchBoxOfOtherSites holds what its script needs of the server, and its size.
func TestTheSearchBoxOfOtherSites(t *testing.T) {
	l := shoal(t)
	w := visitAs(l.public, "/search-box.js", "*/*")
	if w.Code != 200 || w.Body.Len() > 12_000 || !strings.HasPrefix(w.Header().Get("Content-Type"), "text/javascript") {
		t.Errorf("%d, %d bytes of %s", w.Code, w.Body.Len(), w.Header().Get("Content-Type"))
	}
	for query, want := range map[string]string{
		"tide": `["tide",["Of LIP-001","Of LIP-002"],["Proposal","Proposal"],` +
			`["https://kb.example/cips/001","https://kb.example/cips/002"]]`,
		"":        `["",[],[],[]]`,
		"LIP-002": `["LIP-002",["LIP-002 Of LIP-002"`,
	} {
		w := visitAs(l.public, "/suggest?q="+query, "*/*")
		if w.Header().Get("Access-Control-Allow-Origin") != "*" || !strings.HasPrefix(w.Body.String(), want) ||
			!json.Valid(w.Body.Bytes()) {
			t.Errorf("%q: %d %v %s, want %s", query, w.Code, w.Header(), w.Body, want)
		}
	}
}

// TestEveryOperationHasItsPage holds that the reference leads to a page of each, which
// has what there is to know of it, in the layout of the site.
func TestEveryOperationHasItsPage(t *testing.T) {
	l := open(t).ready(t)
	index := visit(l.public, "/api/v1/reference").Body.String()
	answered := 0
	for _, o := range l.ops {
		if o.Path == "" {
			continue
		}
		at := "/api/v1/reference/" + o.ID
		if !strings.Contains(index, `<li id="`+o.ID+`"><h3><a href="`+at+`"`) {
			t.Errorf("the reference does not lead to %s", o.ID)
		}
		w := visit(l.public, at)
		page := w.Body.String()
		if w.Code != 200 || w.Body.Len() > pageLimit || !strings.Contains(page, `class="masthead"`) ||
			!strings.Contains(page, `<pre class="curl"`) {
			t.Errorf("%s: %d, %d bytes", o.ID, w.Code, w.Body.Len())
		}
		checkPage(t, at, w)
		for _, p := range o.Params {
			if p.REST && !strings.Contains(page, "<code>"+p.Name+"</code>") {
				t.Errorf("%s does not tell %s", o.ID, p.Name)
			}
		}
		if strings.Contains(page, `<pre class="answer"`) {
			answered++
		}
		if o.Method == "GET" && !strings.Contains(page, "<form class=\"try-it\"") {
			t.Errorf("%s has no form", o.ID)
		}
	}
	if answered == 0 {
		t.Error("no example is answered")
	}
	if w := visit(l.public, "/api/v1/reference/get_nothing"); w.Code != 404 {
		t.Errorf("an unknown operation: %d", w.Code)
	}
}

// TestTheFirstPageIsLight holds what a first visit loads, as it is sent.
func TestTheFirstPageIsLight(t *testing.T) {
	l := open(t).ready(t)
	sent := func(target string) *httptest.ResponseRecorder {
		r := httptest.NewRequest("GET", target, nil)
		r.Header.Set("Accept", "text/html,*/*;q=0.8")
		r.Header.Set("Accept-Encoding", "gzip, br, zstd")
		w := httptest.NewRecorder()
		l.public.ServeHTTP(w, r)
		if w.Code != 200 || w.Header().Get("Content-Encoding") == "" {
			t.Errorf("%s: %d, coded by %q", target, w.Code, w.Header().Get("Content-Encoding"))
		}
		return w
	}
	total := sent("/").Body.Len()
	for _, at := range linksOf(t, visit(l.public, "/"), "/") {
		if strings.HasPrefix(at, "/static/") && !strings.HasSuffix(at, ".svg") {
			total += sent(at).Body.Len()
		}
	}
	if total > 20_000 || total < 5_000 {
		t.Errorf("%d bytes", total)
	}
}
