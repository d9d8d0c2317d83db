package dashboard_test

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"almanac/catalog"
	"almanac/retrieval/ranking"
)

// alert is what a page says of a form that failed.
func alert(t *testing.T, page string) (text string) {
	t.Helper()
	doc, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	each(doc, func(n *html.Node) {
		if role, _ := attribute(n, "role"); role == "alert" {
			text += content(n)
		}
	})
	return text
}

// TestAFormThatFailsIsShownAgain sends every form of the dashboard with something
// that cannot be done: what was typed is there again, with the message.
func TestAFormThatFailsIsShownAgain(t *testing.T) {
	h, store := tuned(t)
	c, err := store.PutCase(t.Context(), catalog.Case{Name: "Tides"}, "ada")
	if err != nil {
		t.Fatal(err)
	}
	err = errors.Join(
		store.PutQueries(t.Context(), c.ID, []catalog.CaseQuery{{ID: "q1", Text: "ebb", Need: "when"}}, "ada"),
		store.PutJudgments(t.Context(), c.ID, []catalog.Judgment{
			{Query: "q1", Target: "doc:a", Judge: "person/ada", Grade: 3}}),
		store.CountSearches(t.Context(), []catalog.SearchCount{{Query: "flood", N: 3}}))
	if err != nil {
		t.Fatal(err)
	}
	edits(t, h, func(p *ranking.Profile) { p.RankK = 17 })
	const mine = `mine "><script>alert(1)</script>`
	for _, tt := range []struct {
		page, action string
		typed        url.Values
		status       int
		says         string
	}{
		{"/rules/pins/edit?q=fees", "/rules/pins", url.Values{"note": {mine}, "until": {"2031-01-31"}}, 400,
			"choose a place for at least one record"},
		{"/rules/pins/edit?q=fees", "/rules/pins", url.Values{"place doc:c": {"first"}, "place doc:a": {"2"}}, 400,
			"the place of doc:c must be a number"},
		{"/rules/pins/edit?q=fees", "/rules/pins", url.Values{"query": {""}, "place doc:c": {"1"}}, 400,
			"a rule needs a query"},
		{"/rules/pins/edit?q=fees", "/rules/pins", url.Values{"record": {"doc:zzz"}, "position": {"7"}}, 404,
			`there is no record "doc:zzz"; the nearest are <i>Page a (doc:a), <i>Page b (doc:b), <i>Page c (doc:c).`},
		{"/rules/pins/edit?q=fees", "/rules/pins", url.Values{"from": {"tomorrow"}, "place doc:c": {"1"}}, 400,
			"from must be a date"},
		{"/rules", "/rules", url.Values{"name": {mine}, "others": {" , "}}, 400,
			"a group needs a second spelling"},
		{"/cases", "/cases", url.Values{"name": {"Tides"}, "description": {mine}}, 400,
			`there is a case "Tides" already`},
		{"/cases/1/query", "/cases/1/query", url.Values{"text": {" "}, "need": {"a\r\nb"}, "note": {mine}}, 400,
			"a query needs a text"},
		{"/cases/1/query?query=q1", "/cases/1/query", url.Values{"text": {""}, "kind": {"known"}, "need": {"where"}}, 400,
			"a query needs a text"},
		{"/cases/pool?q=neap&a=live&b=configured", "/cases/pool", url.Values{"need": {mine}, "name": {"Tides"}},
			400, `there is a case "Tides" already`},
		{"/cases", "/cases/import", url.Values{"name": {"Reefs"}, "judge": {mine}}, 400, "no file came"},
		{"/cases/1", "/cases/import", url.Values{"judge": {mine}}, 400, "no file came"},
		{"/cases/1", "/cases/1/clicks", url.Values{}, 400, "nobody opened enough"},
		{"/evaluation/new?case=1", "/evaluation", url.Values{"profile": {"configured", "", "configured", "vector-only"},
			"judge": {"person/ada"}}, 400, "configured is chosen twice"},
		{"/evaluation", "/evaluation/schedule", url.Values{"every": {"1s"}}, 400, "every hour or less often"},
		{"/profiles/fit", "/profiles/fit", url.Values{"l2": {"much"}, "folds": {"3"}, "name": {"mine"},
			"profile": {"configured"}}, 400, `"much" is no penalty`},
		{"/profiles/fit", "/profiles/fit", url.Values{"profile": {"configured"}, "folds": {"9"}}, 400, "too few for 9 folds"},
		{"/lab/replay", "/lab/replay", url.Values{"days": {"92"}, "profile": {"default@1"}}, 400, "1 to 91 days"},
		{"/profiles/publish?revision=default@1", "/profiles/publish", url.Values{"note": {mine}, "since": {"99"}}, 409,
			"Somebody else was faster"},
		{"/searches", "/searches/sample", url.Values{"name": {mine}, "n": {"501"}, "how": {"top"}}, 400,
			"1 to 500 queries"},
	} {
		form := formOf(t, get(h, tt.page).Body.String(), tt.action)
		for name, values := range tt.typed {
			form[name] = values
		}
		w := post(h, tt.action, form)
		page := w.Body.String()
		if got := alert(t, page); w.Code != tt.status || !strings.Contains(got, tt.says) || !strings.HasSuffix(got, ".") {
			t.Errorf("%s says %d %q, want %q", tt.action, w.Code, got, tt.says)
			continue
		}
		again := formOf(t, page, tt.action)
		for name, values := range tt.typed {
			if fixed := name == "every" || name == "since"; !fixed && !slices.Equal(again[name], values) {
				t.Errorf("%s: %s is %q again, typed was %q", tt.action, name, again[name], values)
			}
		}
		if strings.Contains(page, "<script>alert") || strings.Contains(page, "<i>Page") {
			t.Errorf("%s: what was typed is HTML", tt.action)
		}
	}
	if list, err := store.Cases(t.Context()); err != nil || len(list) != 1 {
		t.Errorf("%d cases, %v", len(list), err)
	}
}

// TestWhoWasSlowerSendsAgain holds that a form that was overtaken comes back with
// what was typed over what is there now, so that sending it again is enough.
func TestWhoWasSlowerSendsAgain(t *testing.T) {
	h, _ := tuned(t)
	mine := formOf(t, get(h, "/rules/pins/edit?q=fees").Body.String(), "/rules/pins")
	theirs := url.Values{"query": {"tides"}, "place doc:a": {"1"}, "base": {"0"}, "do": {"publish"}}
	moves(t, post(h, "/rules/pins", theirs), "/rules/pins?published=1")
	mine["place doc:c"], mine["do"] = []string{"1"}, []string{"publish"}
	w := post(h, "/rules/pins", mine)
	if w.Code != http.StatusConflict || !strings.Contains(alert(t, w.Body.String()), "Somebody else was faster") {
		t.Fatalf("who was slower is told %d %q", w.Code, alert(t, w.Body.String()))
	}
	again := formOf(t, w.Body.String(), "/rules/pins")
	if again.Get("place doc:c") != "1" || again.Get("base") != "1" {
		t.Fatalf("the form is %v", again)
	}
	again.Set("do", "publish")
	moves(t, post(h, "/rules/pins", again), "/rules/pins?published=2")
	list := get(h, "/rules/pins").Body.String()
	if !strings.Contains(list, "tides") || !strings.Contains(list, "fees") {
		t.Errorf("one of the two rules is lost: %s", list)
	}
}

// TestAProfileSaysWhichLineIsWrong holds what the editor and the lab say of a text, which is
// there again, and that nothing is saved.
func TestAProfileSaysWhichLineIsWrong(t *testing.T) {
	h, store := tuned(t)
	for text, want := range map[string]string{
		"name: mine\nweights:\n  dense: abc\n": "line 3: dense must be a number",
		"lists: []\nname: mine\n":              "line 1: lists is empty",
		"name: [</textarea>":                   "line 1: this is not YAML",
		written(t, func(p *ranking.Profile) { p.Weights = map[string]float64{"luck": 1} }): `there is no feature "luck"`,
	} {
		for action, form := range map[string]url.Values{
			"/profiles/edit": {"name": {"default"}, "base": {"0"}, "yaml": {text}},
			"/lab":           {"q": {"fees"}, "b": {"edited"}, "yaml-b": {text}},
		} {
			if action == "/lab" && strings.Contains(text, "luck") { // which only an engine tells there
				continue
			}
			page := post(h, action, form).Body.String()
			holds(t, html.UnescapeString(page), want)
			lacks(t, page, "profile:", "float64")
			typed := formOf(t, page, action)
			if got := typed.Get("yaml") + typed.Get("yaml-b"); got != strings.ReplaceAll(text, "\n", "\r\n") {
				t.Errorf("%s has the text again as %q", action, got)
			}
		}
	}
	wrong := url.Values{"name": {"../x"}, "yaml": {written(t, func(*ranking.Profile) {})}}
	if w := post(h, "/profiles/edit", wrong); w.Code != http.StatusBadRequest {
		t.Errorf("a path as a name is %d", w.Code)
	}
	if all, err := store.Revisions(t.Context(), catalog.ProfileRevision); err != nil || len(all) != 0 {
		t.Errorf("%d revisions, %v", len(all), err)
	}
}
