package api_test

import (
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"almanac/catalog"
	"almanac/catalog/network"
	"almanac/catalog/sqlstore"
)

// recipesOf are the addresses of the recipes that a site lists.
func recipesOf(t *testing.T, l *library) (all []string) {
	t.Helper()
	w := visit(l.public, "/recipes")
	checkPage(t, "/recipes", w)
	for _, at := range linksOf(t, w, "/recipes") {
		if strings.HasPrefix(at, "/recipes/") {
			all = append(all, at)
		}
	}
	return all
}

// TestRecipes follows every step of every recipe over the sample to the page of its operation: the arguments are
// answered there, or, where an earlier answer has one of them, are waited for.
func TestRecipes(t *testing.T) {
	if testing.Short() {
		t.Skip("loads the sample")
	}
	l := openPreset(t, "sample", "")
	all := recipesOf(t, l)
	if len(all) < 20 {
		t.Fatalf("%d recipes", len(all))
	}
	mapped := visit(l.public, "/sitemap.xml?kind=pages").Body.String()
	for _, at := range all {
		w := visit(l.public, at)
		checkPage(t, at, w)
		page := w.Body.String()
		steps := textsOf(t, page, func(n *html.Node) bool { return n.Data == "h2" })
		if w.Code != 200 || len(steps) < 2 || len(steps) > 4 {
			t.Errorf("%s: %d, steps %q", at, w.Code, steps)
		}
		links := slices.DeleteFunc(linksOf(t, w, at), func(to string) bool {
			return !strings.HasPrefix(to, "/api/v1/reference/")
		})
		if len(links) != len(steps) {
			t.Errorf("%s: %d steps lead to %q", at, len(steps), links)
		}
		for _, to := range links {
			w := visit(l.public, to)
			checkPage(t, to, w)
			answered := textsOf(t, w.Body.String(), withClass("answer"))
			refused := textsOf(t, w.Body.String(), withClass("notice"))
			waits := strings.Contains(page, "Fill in and run") && len(refused) == 1 &&
				strings.HasSuffix(refused[0], "is required.")
			if w.Code != 200 || len(answered) != 1 && !waits && strings.Contains(to, "?") {
				t.Errorf("%s leads to %s: %d, answers %q, refuses %q", at, to, w.Code, answered, refused)
			}
		}
		if !strings.Contains(page, `<link rel="canonical" href="`+publicURL+at+`">`) ||
			!strings.Contains(mapped, "<loc>"+publicURL+at+"</loc>") {
			t.Errorf("%s has no canonical address, or is not in the sitemap", at)
		}
		if md := visit(l.public, at+".md"); md.Code != 200 || !strings.Contains(md.Body.String(), "## 2. ") {
			t.Errorf("%s as Markdown: %d %s", at, md.Code, md.Body)
		}
	}
	for at, want := range map[string]string{
		"/llms.txt": publicURL + "/recipes.md", "/connect": `href="/recipes"`, "/contents": `href="/recipes"`,
		"/skill.md": "/recipes.md",
	} {
		if !strings.Contains(visit(l.public, at).Body.String(), want) {
			t.Errorf("%s does not lead to the recipes", at)
		}
	}
}

// TestARecipeNeedsWhatItsToolsAnswerFrom lists the recipes of a network of proposals and
// documents: those whose tools have records, and no other is a page.
func TestARecipeNeedsWhatItsToolsAnswerFrom(t *testing.T) {
	n := network.Network{Name: "causeway", Title: "Causeway", Proposals: tidewater}
	l := serve(t, n, func() time.Time { return now }, func(store *sqlstore.Store) {
		b := catalog.Batch{Source: "cips", Entries: []catalog.Entry{{Record: catalog.Record{Kind: catalog.KindCIP,
			Key: "CIP-0001", Title: "Boats wait for the tide", Source: "cips", State: "Final", Body: "They wait."}}}}
		if _, err := store.Apply(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}).ready(t)
	listed, mapped := recipesOf(t, l), visit(l.public, "/sitemap.xml?kind=pages").Body.String()
	for at, want := range map[string]bool{"/recipes/in-force": true, "/recipes/answer-with-sources": true,
		"/recipes/said-of-a-proposal": true, "/recipes/whom-to-ask": false, "/recipes/grant-progress": false} {
		code := visit(l.public, at).Code
		if slices.Contains(listed, at) != want || (code == 200) != want || (code == 404) == want ||
			strings.Contains(mapped, at+"<") != want {
			t.Errorf("%s is listed: %t, want %t; %d", at, !want, want, code)
		}
	}
	page := html.UnescapeString(visit(l.public, "/recipes/in-force").Body.String())
	if !strings.Contains(page, `value="CIP-0001"`) || !strings.Contains(page, `{"name": "get_cip", "arguments": {"id":"`) ||
		!strings.Contains(page, `href="/api/v1/reference/get_cip?id=CIP-0001"`) {
		t.Errorf("the network's own proposal is not what it is about: %s", page)
	}
}

// TestARecipeIsAboutWhatTheReaderNames holds it for hostile words, and that a recipe has its steps also if the network
// has nothing that it could be about.
func TestARecipeIsAboutWhatTheReaderNames(t *testing.T) {
	const hostile = `"><script>alert(1)</script><img src=x onerror=alert(2)>`
	l := serve(t, network.Network{Name: "reef", Title: "Reef", Proposals: tidewater}, func() time.Time { return now },
		func(*sqlstore.Store) {}).ready(t)
	unnamed := visit(l.public, "/recipes/answer-with-sources")
	checkPage(t, "/recipes/answer-with-sources", unnamed)
	if page := unnamed.Body.String(); !strings.Contains(page, "<em>Question</em>") ||
		!strings.Contains(page, "<em>items.0.read in the answer to step 1</em>") {
		t.Errorf("about nothing: %s", page)
	}
	named := url.Values{"q": {hostile}}.Encode()
	for _, at := range []string{"/recipes/answer-with-sources?" + named, "/api/v1/reference/search?" + named,
		"/api/v1/reference/get_cip?id=" + url.QueryEscape(hostile)} {
		w := visit(l.public, at)
		checkPage(t, at, w)
		page := w.Body.String()
		if w.Code != 200 || strings.Contains(page, "<script>alert") || strings.Contains(page, "<img") ||
			!strings.Contains(page, `value="`+html.EscapeString(hostile)) ||
			!strings.Contains(page, `<meta name="robots" content="noindex">`) {
			t.Errorf("%s: %d %s", at, w.Code, page)
		}
	}
}
