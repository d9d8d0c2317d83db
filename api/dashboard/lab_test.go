package dashboard_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"almanac/catalog"
	"almanac/retrieval/eval"
	"almanac/retrieval/profile"
	"almanac/retrieval/workbench"
)

func TestLab(t *testing.T) {
	h, store := tuned(t)
	if page := get(h, "/lab").Body.String(); !strings.Contains(page, "Type a query") {
		t.Error("the empty page does not say what it is for")
	}
	p, err := profile.Load(profile.DefaultName)
	if err != nil {
		t.Fatal(err)
	}
	data, err := yaml.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	form := url.Values{"name": {"default"}, "note": {"as built"}, "base": {"0"}, "yaml": {string(data)}, "q": {"fees"}}
	moves(t, post(h, "/profiles/edit", form), "/lab?a=live&b=default%401&q=fees")
	if w := post(h, "/profiles/edit", form); w.Code != http.StatusConflict {
		t.Errorf("a second save on the same base is %d", w.Code)
	}
	form.Set("yaml", "name: x\nlists: []\n")
	if w := post(h, "/profiles/edit", form); w.Code != http.StatusBadRequest {
		t.Errorf("a profile without lists is %d", w.Code)
	}
	page := get(h, "/lab?q=fees&a=live&b=default@1&why=doc:a").Body.String()
	for _, want := range []string{"&lt;i&gt;Page a", "default@1", "the filter leaves it out", "1.00 (RBO)", "3 records"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if strings.Contains(page, "<i>Page") || strings.Contains(page, "not on the right") {
		t.Error("a title is HTML, or a result that both sides have is marked")
	}
	for _, wrong := range []string{"default@9", "default@x", "../profile", "/etc/passwd"} {
		w := get(h, "/lab?q=fees&a="+url.QueryEscape(wrong))
		if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), "not found") {
			t.Errorf("%s is %d", wrong, w.Code)
		}
	}
	typed := post(h, "/lab", url.Values{"q": {"fees"}, "a": {"live"}, "try": {"a"},
		"yaml-a": {"name: [</textarea>"}}).Body.String()
	if !strings.Contains(typed, "name: [&lt;/textarea&gt;") || !strings.Contains(typed, "line 1: this is not YAML") {
		t.Error("a text that is no profile is not kept with its error")
	}
	c, err := store.PutCase(t.Context(), catalog.Case{Name: "x"}, "ada")
	if err != nil {
		t.Fatal(err)
	}
	err = store.PutQueries(t.Context(), c.ID, []catalog.CaseQuery{{ID: "q1", Text: "Fees"}}, "ada")
	if err != nil {
		t.Fatal(err)
	}
	err = store.PutJudgments(t.Context(), c.ID, []catalog.Judgment{
		{Query: "q1", Target: "doc:b", Judge: "person/ada", Grade: 3}})
	if err != nil {
		t.Fatal(err)
	}
	page = get(h, "/lab?q=fees").Body.String()
	if !strings.Contains(page, "<b>0.631</b>") || !strings.Contains(page, `data-grade="3" aria-pressed="true"`) { // 1/log2(3)
		t.Errorf("the judged record at the second place does not count: %s", page)
	}
}

// TestEditsSurviveComparing holds what the black button does: a text that was
// changed is compared and kept, one that was not stays out of the address.
func TestEditsSurviveComparing(t *testing.T) {
	h, _ := tuned(t)
	page := get(h, "/lab?q=fees").Body.String()
	for b, want := range map[string]string{"keyword-only": "/lab?q=fees", "vector-only": "/lab?b=vector-only&q=fees"} {
		form := formOf(t, page, "/lab")
		form.Set("b", b)
		moves(t, post(h, "/lab", form), want)
	}
	if filled := formOf(t, get(h, "/lab?b=vector-only&q=fees").Body.String(), "/lab"); !strings.Contains(
		filled.Get("yaml-b"), "The vector lists of default alone.") {
		t.Errorf("another profile does not fill in its text: %q", filled.Get("yaml-b"))
	}
	if w := get(h, "/lab/profile?name=vector-only"); w.Code != http.StatusOK ||
		!strings.Contains(w.Body.String(), "The vector lists of default alone.") {
		t.Errorf("the text of a profile is %d %s", w.Code, w.Body)
	}
	form := formOf(t, page, "/lab")
	form.Set("yaml-b", strings.Replace(form.Get("yaml-b"), "rank_k: 60", "rank_k: 17", 1))
	w := post(h, "/lab", form)
	again := formOf(t, w.Body.String(), "/lab")
	if w.Code != http.StatusOK || again.Get("b") != "edited" || again.Get("a") != "live" ||
		!strings.Contains(again.Get("yaml-b"), "rank_k: 17") || !strings.Contains(w.Body.String(), "<h2>edited</h2>") {
		t.Fatalf("an edited text is not compared: %d %v %s", w.Code, again, w.Body)
	}
	if w = post(h, "/lab", again); w.Code != http.StatusOK ||
		formOf(t, w.Body.String(), "/lab").Get("yaml-b") != again.Get("yaml-b") {
		t.Errorf("comparing again loses the text: %d", w.Code)
	}
	again.Set("b", "keyword-only") // somebody turns away from what they wrote
	moves(t, post(h, "/lab", again), "/lab?q=fees")
	form.Set("q", "")
	form.Set("yaml-a", "name: [")
	if w = post(h, "/lab", form); formOf(t, w.Body.String(), "/lab").Get("yaml-a") != "name: [" ||
		!strings.Contains(formOf(t, w.Body.String(), "/lab").Get("yaml-b"), "rank_k: 17") {
		t.Errorf("without a query the texts are lost: %d", w.Code)
	}
}

// TestRecordsAreSuggested holds that every field which takes a record offers names while
// one types, and takes what it offers.
func TestRecordsAreSuggested(t *testing.T) {
	h, store := tuned(t)
	for path, field := range map[string]string{"/lab": "name", "/lab?q=fees": "why", "/rules/pins/edit?q=fees": "record"} {
		page := get(h, path).Body.String()
		_, after, found := strings.Cut(page, `<input name="`+field+`"`)
		tag, _, _ := strings.Cut(after, ">")
		if !found || !strings.Contains(tag, `list="names"`) || !strings.Contains(page, `<datalist id="names">`) {
			t.Errorf("%s: the field %s has no names", path, field)
		}
	}
	for text, want := range map[string][]string{"page": {"doc:a", "doc:b", "doc:c"}, "doc:c": {"doc:c", "doc:a", "doc:b"},
		"": nil} {
		w := get(h, "/lab/names?q="+url.QueryEscape(text))
		var got []string
		for _, option := range strings.Split(w.Body.String(), "<option ")[1:] {
			name, _, _ := strings.Cut(strings.TrimPrefix(option, `value="`), `"`)
			got = append(got, name)
		}
		if w.Code != http.StatusOK || !slices.Equal(got, want) || strings.Contains(w.Body.String(), "<i>") {
			t.Errorf("%q offers %d %v, want %v", text, w.Code, got, want)
		}
	}
	form := url.Values{"query": {"fees"}, "record": {"doc:c"}, "position": {"2"}, "base": {"0"}, "do": {"publish"}}
	moves(t, post(h, "/rules/pins", form), "/rules/pins?published=1")
	r, err := store.Revision(t.Context(), catalog.PinsRevision, "", 0)
	if err != nil || !strings.Contains(r.Data, "doc:c") {
		t.Errorf("pinned is %q, %v", r.Data, err)
	}
}

// TestAnEditedProfileSaysWhatItIsWorth: unasked, with the queries that change, each of which
// opens without losing the text.
func TestAnEditedProfileSaysWhatItIsWorth(t *testing.T) {
	h, store := tuned(t)
	feesCase(t, store)
	edited := written(t, func(p *profile.Profile) { p.RankK = turning })
	form := formOf(t, get(h, "/lab?q=fees").Body.String(), "/lab")
	form.Set("yaml-b", edited)
	page := html.UnescapeString(post(h, "/lab", form).Body.String())
	holds(t, page, "On\nall 2 queries of", "1 better, 1 worse", "name=\"go\"\nvalue=\"tides\"", "<code>rank_k</code>")
	again := formOf(t, post(h, "/lab", form).Body.String(), "/lab")
	again.Set("go", "tides")
	next := formOf(t, post(h, "/lab", again).Body.String(), "/lab")
	if next.Get("q") != "tides" || !strings.Contains(next.Get("yaml-b"), "rank_k: 18") {
		t.Errorf("a query that changes opens as %q and loses the text", next.Get("q"))
	}

	form = formOf(t, get(h, "/profiles/edit").Body.String(), "/profiles/edit")
	form.Set("yaml", edited)
	form.Set("do", "preview")
	w := post(h, "/profiles/edit", form)
	holds(t, w.Body.String(), "What differs from live", "<code>rank_k</code>", "What it is worth", "harbour")
	if form = formOf(t, w.Body.String(), "/profiles/edit"); !strings.Contains(form.Get("yaml"), "rank_k: 18") {
		t.Error("a preview loses the text")
	}
	if all, err := store.Revisions(t.Context(), catalog.ProfileRevision); err != nil || len(all) > 0 {
		t.Errorf("a preview saves %v, %v", all, err)
	}
}

// TestAFixIsPublishedFromTheLab holds that who began in the lab is there again after
// publishing, with Undo.
func TestAFixIsPublishedFromTheLab(t *testing.T) {
	h, _ := tuned(t)
	moves(t, post(h, "/profiles/edit", url.Values{"name": {"default"}, "base": {"0"}, "q": {"neap & tides"},
		"yaml": {written(t, func(p *profile.Profile) { p.RankK = 17 })}}), "/lab?a=live&b=default%401&q=neap+%26+tides")
	page := get(h, "/lab?a=live&b=default%401&q=neap+%26+tides").Body.String()
	holds(t, page, `data-key="p" href="/profiles/publish?revision=default%401&amp;q=neap%20%26%20tides"`)
	form := formOf(t, get(h, "/profiles/publish?revision=default@1&q=neap+%26+tides").Body.String(), "/profiles/publish")
	to := "/lab?a=configured&b=live&published=1&q=neap+%26+tides"
	moves(t, post(h, "/profiles/publish", form), to)
	page = get(h, to).Body.String()
	holds(t, page, "default@1 is live", `data-key="u">Undo`)
	if strings.Contains(page, "Publish default@1") || strings.Contains(page, "See it in the lab") {
		t.Error("what is live can be published, or leads to where one is")
	}
}

// TestSearchesAreReplayed holds what a replay says: how alike the answers to what people searched
// for would be, by how often they did, and which change most; and that no text of them is kept.
func TestSearchesAreReplayed(t *testing.T) {
	h, store := tuned(t)
	holds(t, get(h, "/lab").Body.String(), `href="/lab/replay"`)
	holds(t, get(h, "/lab/replay").Body.String(), "No search is counted yet")
	moves(t, post(h, "/profiles/edit", url.Values{"name": {"mine"}, "base": {"0"},
		"yaml": {written(t, func(p *profile.Profile) { p.RankK = turning })}}), "/profiles/diff?a=live&b=mine%401")
	err := store.CountSearches(t.Context(), []catalog.SearchCount{{Query: "<i>fees", N: 3}, {Query: "calm", N: 5},
		{Query: "storm", N: 9}, {Query: "long ago", N: 7, LastAt: time.Now().AddDate(0, 0, -40)}})
	if err != nil {
		t.Fatal(err)
	}
	holds(t, get(h, "/lab/replay?profile=mine@1").Body.String(), "<option selected>mine@1</option>")
	moves(t, post(h, "/lab/replay", url.Values{"profile": {"mine@1"}, "days": {"30"}}), "/lab/replay")
	holds(t, get(h, "/lab/replay").Body.String(), "data-running", "waiting for the process", "stop it in Operations")
	if w := post(h, "/lab/replay", url.Values{"profile": {"mine@2"}, "days": {"30"}}); w.Code != http.StatusNotFound {
		t.Errorf("a revision that is not there is %d", w.Code)
	}

	d := h.(served).pages
	bench := workbench.Runner{Source: d.Source, Index: struct {
		workbench.Measurable
		eval.Signaler
	}{Measurable: d.Search}}
	job, err := store.Job(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	steps := 0
	ctx, cancel := context.WithCancel(t.Context())
	_, err = bench.Jobs()[job.Kind](ctx, job, func(int, int) { steps++; cancel() })
	if !errors.Is(err, context.Canceled) || steps != 1 {
		t.Errorf("cancelled, it ends after %d queries with %v", steps, err)
	}
	found, err := bench.Jobs()[job.Kind](t.Context(), job, func(int, int) {})
	if err != nil {
		t.Fatal(err)
	}
	result, err := json.Marshal(found)
	if err == nil {
		err = store.FinishRequest(t.Context(), 1, string(result), "")
	}
	if err != nil || strings.Contains(string(result), "fees") {
		t.Fatalf("stored is %s, %v", result, err)
	}
	page := get(h, "/lab/replay").Body.String()
	turned := eval.RBO([]int{1, 2, 3}, []int{3, 2, 1}, eval.Persistence)
	holds(t, page, "mine@1 against configured", fmt.Sprintf("<dd>%.3f <small>RBO", (3*turned+5)/8), "<dd>8\n",
		"1 query not answered by every engine", `<a href="/lab?a=configured&amp;b=mine%401&amp;q=%3Ci%3Efees">&lt;i&gt;fees</a>`)
	if strings.Contains(page, "long ago") || strings.Contains(page, ">calm<") || strings.Contains(page, "data-running") {
		t.Errorf("the page has what does not change, is too old, or still waits: %s", page)
	}
}
