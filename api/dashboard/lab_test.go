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

	"almanac/catalog"
	"almanac/retrieval/eval"
	"almanac/retrieval/ranking"
	"almanac/retrieval/workbench"
)

// edits saves a changed profile as the first revision of the default one.
func edits(t *testing.T, h http.Handler, change func(*ranking.Profile)) {
	t.Helper()
	form := url.Values{"name": {"default"}, "base": {"0"}, "note": {"<b>flatter"}, "yaml": {written(t, change)}}
	moves(t, post(h, "/profiles/edit", form), "/profiles/diff?a=live&b=default%401")
}

// lacks checks that a page has none of some texts.
func lacks(t *testing.T, page string, unwanted ...string) {
	t.Helper()
	for _, text := range unwanted {
		if strings.Contains(page, text) {
			t.Errorf("the page has %q:\n%s", text, page)
		}
	}
}

func TestTwoProfilesAreCompared(t *testing.T) {
	h, _ := tuned(t)
	edits(t, h, func(*ranking.Profile) {})
	page := get(h, "/lab?q=fees&a=live&b=default@1&why=doc:a").Body.String()
	holds(t, page, "&lt;i&gt;Page a", "default@1", "the filter leaves it out", "1.00 (RBO)", "3 records")
	lacks(t, page, "<i>Page", "left only")
	for _, wrong := range []string{"default@9", "default@x", "../profile", "/etc/passwd"} {
		if w := get(h, "/lab?q=fees&a="+url.QueryEscape(wrong)); w.Code != http.StatusOK ||
			!strings.Contains(w.Body.String(), "not found") {
			t.Errorf("%s is %d", wrong, w.Code)
		}
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
	const text = "The vector lists of default alone."
	holds(t, get(h, "/lab?b=vector-only&q=fees").Body.String(), text)
	holds(t, get(h, "/lab/profile?name=vector-only").Body.String(), text)
	form := formOf(t, page, "/lab")
	form.Set("yaml-b", strings.Replace(form.Get("yaml-b"), "rank_k: 60", "rank_k: 17", 1))
	again := formOf(t, post(h, "/lab", form).Body.String(), "/lab")
	if again.Get("b") != "edited" || again.Get("a") != "live" || !strings.Contains(again.Get("yaml-b"), "rank_k: 17") {
		t.Fatalf("an edited text is not compared: %v", again)
	}
	if twice := formOf(t, post(h, "/lab", again).Body.String(), "/lab"); twice.Get("yaml-b") != again.Get("yaml-b") {
		t.Error("comparing again loses the text")
	}
	again.Set("b", "keyword-only") // somebody turns away from what they wrote
	moves(t, post(h, "/lab", again), "/lab?q=fees")
	form.Set("q", "")
	form.Set("yaml-a", "name: [")
	if kept := formOf(t, post(h, "/lab", form).Body.String(), "/lab"); kept.Get("yaml-a") != "name: [" ||
		!strings.Contains(kept.Get("yaml-b"), "rank_k: 17") {
		t.Errorf("without a query the texts are lost: %v", kept)
	}
}

// TestRecordsAreSuggested holds that every field which takes a record offers names while
// one types.
func TestRecordsAreSuggested(t *testing.T) {
	h, _ := tuned(t)
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
		page := get(h, "/lab/names?q="+url.QueryEscape(text)).Body.String()
		var got []string
		for _, option := range strings.Split(page, "<option ")[1:] {
			name, _, _ := strings.Cut(strings.TrimPrefix(option, `value="`), `"`)
			got = append(got, name)
		}
		if !slices.Equal(got, want) || strings.Contains(page, "<i>") {
			t.Errorf("%q offers %v, want %v", text, got, want)
		}
	}
}

// TestAnEditedProfileSaysWhatItIsWorth: unasked, with the queries that change, each of which
// opens without losing the text.
func TestAnEditedProfileSaysWhatItIsWorth(t *testing.T) {
	h, store := tuned(t)
	feesCase(t, store)
	edited := written(t, func(p *ranking.Profile) { p.RankK = turning })
	form := formOf(t, get(h, "/lab?q=fees").Body.String(), "/lab")
	form.Set("yaml-b", edited)
	page := post(h, "/lab", form).Body.String()
	holds(t, html.UnescapeString(page), "On\nall 2 queries of", "1 better, 1 worse", "name=\"go\"\nvalue=\"tides\"",
		"<code>rank_k</code>")
	again := formOf(t, page, "/lab")
	again.Set("go", "tides")
	next := formOf(t, post(h, "/lab", again).Body.String(), "/lab")
	if next.Get("q") != "tides" || !strings.Contains(next.Get("yaml-b"), "rank_k: 18") {
		t.Errorf("a query that changes opens as %q and loses the text", next.Get("q"))
	}

	form = url.Values{"name": {"default"}, "base": {"0"}, "yaml": {edited}, "do": {"preview"}}
	page = post(h, "/profiles/edit", form).Body.String()
	holds(t, page, "What differs from live", "<code>rank_k</code>", "What it is worth", "harbour", "rank_k: 18")
	if all, err := store.Revisions(t.Context(), catalog.ProfileRevision); err != nil || len(all) > 0 {
		t.Errorf("a preview saves %v, %v", all, err)
	}
}

// TestAFixIsPublishedFromTheLab holds that who began in the lab is there again after
// publishing, with Undo.
func TestAFixIsPublishedFromTheLab(t *testing.T) {
	h, _ := tuned(t)
	moves(t, post(h, "/profiles/edit", url.Values{"name": {"default"}, "base": {"0"}, "q": {"neap & tides"},
		"yaml": {written(t, func(p *ranking.Profile) { p.RankK = 17 })}}), "/lab?a=live&b=default%401&q=neap+%26+tides")
	page := get(h, "/lab?a=live&b=default%401&q=neap+%26+tides").Body.String()
	holds(t, page, `data-key="p" href="/profiles/publish?revision=default%401&amp;q=neap%20%26%20tides"`)
	form := formOf(t, get(h, "/profiles/publish?revision=default@1&q=neap+%26+tides").Body.String(), "/profiles/publish")
	to := "/lab?a=configured&b=live&published=1&q=neap+%26+tides"
	moves(t, post(h, "/profiles/publish", form), to)
	page = get(h, to).Body.String()
	holds(t, page, "default@1 is live", `data-key="u">Undo`)
	lacks(t, page, "Publish default@1", "See it in the lab")
}

// TestSearchesAreReplayed holds what a replay says: how alike the answers to what people searched
// for would be, by how often they did, and which change most; and that no text of them is kept.
func TestSearchesAreReplayed(t *testing.T) {
	h, store := tuned(t)
	holds(t, get(h, "/lab").Body.String(), `href="/lab/replay"`)
	holds(t, get(h, "/lab/replay").Body.String(), "No search is counted yet")
	moves(t, post(h, "/profiles/edit", url.Values{"name": {"mine"}, "base": {"0"},
		"yaml": {written(t, func(p *ranking.Profile) { p.RankK = turning })}}), "/profiles/diff?a=live&b=mine%401")
	err := store.CountSearches(t.Context(), []catalog.SearchCount{{Query: "<i>fees", N: 3}, {Query: "calm", N: 5},
		{Query: "ripple", N: 4},
		{Query: "storm", N: 9}, {Query: "long ago", N: 7, LastAt: time.Now().AddDate(0, 0, -30)}})
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
	rippled := eval.RBO([]int{1, 2, 3}, []int{2, 1, 3}, eval.Persistence)
	holds(t, page, "mine@1 against configured", fmt.Sprintf("<dd>%.3f <small>RBO", (3*turned+5+4*rippled)/12), "<dd>12\n",
		"1 query not answered by every engine", `<a href="/lab?a=configured&amp;b=mine%401&amp;q=%3Ci%3Efees">&lt;i&gt;fees</a>`)
	lacks(t, page, "long ago", ">calm<", "data-running")
	if strings.Index(page, "fees</a>") > strings.Index(page, "ripple</a>") {
		t.Error("what changes less comes first")
	}
}
