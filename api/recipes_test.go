package api_test

import (
	"context"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"almanac/api"
	"almanac/api/kb"
	"almanac/api/op"
	"almanac/catalog"
	"almanac/catalog/network"
	"almanac/testing/race"
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

// TestRecipes opens every recipe over the sample: each step is answered, and all of them
// together name a source.
func TestRecipes(t *testing.T) {
	race.Skip(t)
	if testing.Short() {
		t.Skip("loads the sample")
	}
	l := openPreset(t, "sample", "")
	l = serving(t, l, l.ops)
	all := recipesOf(t, l)
	if len(all) < 20 {
		t.Fatalf("%d recipes", len(all))
	}
	mapped := visit(l.public, "/sitemap.xml?kind=pages").Body.String()
	for _, at := range all {
		w := visit(l.public, at)
		if w.Code != 200 {
			t.Errorf("%s: %d", at, w.Code)
			continue
		}
		checkPage(t, at, w)
		page := w.Body.String()
		steps := len(textsOf(t, page, func(n *html.Node) bool { return n.Data == "h2" }))
		calls := textsOf(t, page, func(n *html.Node) bool {
			return n.Data == "code" && n.Parent.Data == "pre" && n.Parent.Parent.Data == "section"
		})
		for _, call := range calls {
			if !json.Valid([]byte(call)) {
				t.Errorf("%s: %s is no call", at, call)
			}
		}
		if steps < 2 || steps > 4 || len(calls) != steps {
			t.Errorf("%s has %d steps and %d calls", at, steps, len(calls))
		}
		for _, failed := range textsOf(t, page, withClass("notice")) {
			t.Errorf("%s: %s", at, failed)
		}
		if !slices.Contains(textsOf(t, page, withClass("label")), "Sources") {
			t.Errorf("%s cites nothing", at)
		}
		if !strings.Contains(page, `<link rel="canonical" href="`+publicURL+at+`">`) ||
			!strings.Contains(mapped, "<loc>"+publicURL+at+"</loc>") {
			t.Errorf("%s has no canonical address, or is not in the sitemap", at)
		}
		if md := visit(l.public, at+".md"); md.Code != 200 || !strings.Contains(md.Body.String(), "### Sources") {
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
	l := serve(t, n, func() time.Time { return now }, func(store catalog.Store) {
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
	if !strings.Contains(page, `value="CIP-0001"`) || !strings.Contains(page, `{"name": "get_cip", "arguments": {"id":"`) {
		t.Errorf("the network's own proposal is not what it is about: %s", page)
	}
}

// TestARecipeAsksForASubject holds that a network with nothing that a recipe could be about
// has its page all the same, with the field and without calls.
func TestARecipeAsksForASubject(t *testing.T) {
	l := serve(t, network.Network{Name: "reef", Title: "Reef", Proposals: tidewater}, func() time.Time { return now },
		func(catalog.Store) {}).ready(t)
	w := visit(l.public, "/recipes/answer-with-sources")
	checkPage(t, "/recipes/answer-with-sources", w)
	if page := w.Body.String(); w.Code != 200 || !strings.Contains(page, "What about?") ||
		!strings.Contains(page, `name="q"`) || strings.Contains(page, "<section>") {
		t.Errorf("%d %s", w.Code, page)
	}
	if page := visit(l.public, "/recipes/this-week").Body.String(); strings.Count(page, "The answer is empty.") != 2 {
		t.Errorf("nothing changed: %s", page)
	}
}

// replaced is a library of which one operation answers otherwise.
func replaced(t *testing.T, l *library, with op.Operation) *library {
	t.Helper()
	ops := slices.Clone(l.ops)
	i := slices.IndexFunc(ops, func(o op.Operation) bool { return o.ID == with.ID })
	ops[i] = with
	return serving(t, l, ops)
}

// serving is a library that serves these operations, however long they take.
func serving(t *testing.T, l *library, ops []op.Operation) *library {
	t.Helper()
	h, err := api.New(api.Config{Serving: op.Serving{Operations: ops, Timeout: time.Hour}, Name: "Harbour",
		Version: "test", PublicURL: publicURL, Now: func() time.Time { return now }, AdminLoopback: true})
	if err != nil {
		t.Fatal(err)
	}
	other := *l
	other.public = h.Public
	return &other
}

type topicIn struct {
	Topic string `json:"topic" required:"true"`
	Limit int    `json:"limit"`
}

// answering is an operation that gives something on a topic.
func answering[Out any](id string, run func() (Out, error)) op.Operation {
	return op.New(op.Spec{ID: id, Tool: id, Group: "search", Title: id, Summary: id},
		func(context.Context, topicIn) (Out, error) { return run() })
}

// TestTheStepsOfARecipeStandAlone holds that what one step fails at is said in its place,
// with its call, that the others are answered, and that a step which goes on from it says
// that it cannot.
func TestTheStepsOfARecipeStandAlone(t *testing.T) {
	l := open(t).ready(t)
	failing := replaced(t, l, answering("find_maintainer_guidance", func() (kb.List[kb.Item], error) {
		return kb.List[kb.Item]{}, op.Unavailable(time.Second, "the tide is out")
	}))
	w := visit(failing.public, "/recipes/whom-to-ask?q=tide+oracle")
	checkPage(t, "/recipes/whom-to-ask", w)
	page := w.Body.String()
	if got := textsOf(t, page, withClass("notice")); w.Code != 200 || !slices.Equal(got,
		[]string{"There is no answer: The tide is out."}) {
		t.Errorf("%d, said: %q", w.Code, got)
	}
	for _, want := range []string{`{"name": "find_maintainer_guidance", "arguments": {"topic":"tide oracle"}}`,
		`{"name": "search_community"`, `value="tide oracle"`, "Sources", `<meta name="robots" content="noindex">`} {
		if !strings.Contains(html.UnescapeString(page), want) {
			t.Errorf("no %s in %s", want, page)
		}
	}
	// Nothing is called so, and two steps go on from what is.
	page = visit(replaced(t, l, op.New(op.Spec{ID: "find_cip_for_feature", Tool: "find_cip_for_feature", Group: "search",
		Title: "Nothing", Summary: "Nothing."}, func(context.Context, struct {
		Feature string `json:"feature" required:"true"`
	}) (kb.List[kb.Item], error) {
		return kb.List[kb.Item]{Hint: "there is none"}, nil
	})).public, "/recipes/which-proposal?q=tide").Body.String()
	if got := textsOf(t, page, withClass("notice")); len(got) != 2 || got[0] != got[1] ||
		got[0] != "There is no answer: Step 1 found nothing to go on with." || !strings.Contains(page, "There is none.") {
		t.Errorf("after nothing: %q", got)
	}
}

// TestRecipesShowWhatStrangersWriteAsText holds it for subjects and for answers.
func TestRecipesShowWhatStrangersWriteAsText(t *testing.T) {
	const hostile = `"><script>alert(1)</script><img src=x onerror=alert(2)>`
	type expert struct {
		Name     string    `json:"name"`
		Note     string    `json:"note"`
		Code     string    `json:"code"`
		Evidence []kb.Item `json:"evidence"`
	}
	item := kb.Item{ID: hostile, Kind: hostile, Title: hostile, URL: "javascript:alert(3)", State: hostile}
	elsewhere := item
	elsewhere.URL = "https://example.org/?" + hostile
	l := replaced(t, open(t).ready(t), answering("find_expert", func() (kb.List[expert], error) {
		return kb.List[expert]{Hint: hostile, Items: []expert{{hostile, hostile, hostile, []kb.Item{item, elsewhere}}}}, nil
	}))
	for _, q := range []string{"tide", hostile} {
		w := visit(l.public, "/recipes/whom-to-ask?"+url.Values{"q": {q}}.Encode())
		checkPage(t, "/recipes/whom-to-ask", w)
		for _, no := range []string{"<script>alert", "<img", `"javascript:`} {
			if w.Code != 200 || strings.Contains(w.Body.String(), no) {
				t.Errorf("%q: %d, %s in %s", q, w.Code, no, w.Body)
			}
		}
	}
}
