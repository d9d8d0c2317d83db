package dashboard_test

import (
	"encoding/json"
	"errors"
	"html"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"almanac/catalog"
	"almanac/retrieval/eval"
	"almanac/retrieval/profile"
	"almanac/retrieval/revision"
	"almanac/retrieval/workbench"
)

// written is the default profile as YAML, changed.
func written(t *testing.T, change func(*profile.Profile)) string {
	t.Helper()
	p, err := profile.Load(profile.DefaultName)
	if err != nil {
		t.Fatal(err)
	}
	change(&p)
	data, err := yaml.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestAProfileIsEditedPublishedAndRolledBack(t *testing.T) {
	h, store := tuned(t)
	if page := get(h, "/profiles").Body.String(); !strings.Contains(page, "No profile was saved yet") ||
		!strings.Contains(page, ">live: configured</a>") {
		t.Errorf("the first page is %s", page)
	}
	if page := get(h, "/profiles/edit").Body.String(); !strings.Contains(page, "rank_k: 60") {
		t.Errorf("the form is not filled from what is in force: %s", page)
	}
	form := url.Values{"name": {"default"}, "base": {"0"}, "note": {"<b>flatter"},
		"yaml": {written(t, func(p *profile.Profile) { p.RankK = 17 })}}
	moves(t, post(h, "/profiles/edit", form), "/profiles/diff?a=live&b=default%401")
	diff := get(h, "/profiles/diff?a=live&b=default@1").Body.String()
	for _, want := range []string{"1 field differs", "rank_k", "/profiles/publish?revision=default%401", `<td dir="auto">17</td>`} {
		if !strings.Contains(diff, want) {
			t.Errorf("the comparison lacks %q", want)
		}
	}
	asked := get(h, "/profiles/publish?revision=default@1").Body.String()
	holds(t, asked, "Not measured", "/evaluation/new?a=live&amp;b=default%401", "<code>rank_k</code>", "&lt;b&gt;flatter")
	moves(t, post(h, "/profiles/publish", url.Values{"revision": {"default@1"}, "since": {"0"}, "note": {"<b>flatter"}}),
		"/profiles?published=1")
	page := get(h, "/profiles?published=1").Body.String()
	for _, want := range []string{">live: default@1</a>", `<span class="status good">live</span>`, "&lt;b&gt;flatter",
		"/profiles/publish?revision=configured&amp;note=back+to+configured", "default@1 is live", "/lab?a=configured&amp;b=live",
		`action="/changes/2/undo"`} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	live, _, err := store.Published(t.Context())
	if err != nil || len(live) != 1 || live[0].Number != 1 {
		t.Fatalf("in force is %v, %v", live, err)
	}
	moves(t, post(h, "/profiles/publish", url.Values{"revision": {"configured"}, "since": {"1"}}), "/profiles?published=2")
	if page := get(h, "/profiles").Body.String(); !strings.Contains(page, ">live: configured</a>") {
		t.Error("the masthead does not say that the configuration is in force")
	}
	if w := post(h, "/profiles/publish", url.Values{"revision": {"default@1"}, "since": {"1"}}); w.Code != 409 {
		t.Errorf("publishing over another's publication is %d", w.Code)
	}
	for _, wrong := range []string{"default@2", "default", ""} {
		w := post(h, "/profiles/publish", url.Values{"revision": {wrong}})
		if w.Code != http.StatusNotFound && w.Code != http.StatusBadRequest {
			t.Errorf("publishing %q is %d", wrong, w.Code)
		}
	}
}

func TestTwoWhoEditAProfileLoseNothing(t *testing.T) {
	h, store := tuned(t)
	form := func(change func(*profile.Profile)) url.Values {
		return url.Values{"name": {"default"}, "base": {"0"}, "yaml": {written(t, change)}, "note": {"mine"}}
	}
	first := form(func(p *profile.Profile) { p.RankK = 17 })
	second := form(func(p *profile.Profile) { p.Floor = 0.123 })
	moves(t, post(h, "/profiles/edit", first), "/profiles/diff?a=live&b=default%401")
	w := post(h, "/profiles/edit", second)
	page := w.Body.String()
	if w.Code != http.StatusConflict {
		t.Fatalf("the second is %d", w.Code)
	}
	for _, want := range []string{"Somebody else was faster", "floor: 0.123", `name="base" value="1"`, `value="mine"`,
		"<code>rank_k</code>", "<code>floor</code>"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	second.Set("base", "1")
	moves(t, post(h, "/profiles/edit", second), "/profiles/diff?a=live&b=default%402")
	if all, err := store.Revisions(t.Context(), catalog.ProfileRevision); err != nil || len(all) != 2 {
		t.Errorf("%d revisions, %v", len(all), err)
	}
}

func TestWhatIsNoProfileIsKeptWithItsError(t *testing.T) {
	h, store := tuned(t)
	for name, text := range map[string]string{"no YAML": "name: [</textarea>",
		"unknown feature": written(t, func(p *profile.Profile) { p.Weights = map[string]float64{"luck": 1} })} {
		w := post(h, "/profiles/edit", url.Values{"name": {"default"}, "base": {"0"}, "yaml": {text}})
		page := w.Body.String()
		if w.Code != http.StatusBadRequest || !strings.Contains(page, "not saved") ||
			strings.Contains(page, "[</textarea>") {
			t.Errorf("%s is %d", name, w.Code)
		}
	}
	w := post(h, "/profiles/edit", url.Values{"name": {"../x"}, "yaml": {written(t, func(*profile.Profile) {})}})
	if w.Code != http.StatusBadRequest {
		t.Errorf("a path as a name is %d", w.Code)
	}
	if all, err := store.Revisions(t.Context(), catalog.ProfileRevision); err != nil || len(all) != 0 {
		t.Errorf("%d revisions, %v", len(all), err)
	}
}

func TestAFitIsAskedForAndShown(t *testing.T) {
	h, store := tuned(t)
	if page := get(h, "/profiles/fit").Body.String(); !strings.Contains(page, "There is no case yet") {
		t.Error("without a case the page does not say so")
	}
	c, err := store.PutCase(t.Context(), catalog.Case{Name: "fees"}, "ada")
	if err != nil {
		t.Fatal(err)
	}
	var queries []catalog.CaseQuery
	var judgments []catalog.Judgment
	for _, id := range []string{"q1", "q2", "q3", "q4"} {
		queries = append(queries, catalog.CaseQuery{ID: id, Text: "fee " + id})
		judgments = append(judgments, catalog.Judgment{Query: id, Target: "doc:a", Judge: "person/ada", Grade: 3})
	}
	if err := errors.Join(store.PutQueries(t.Context(), c.ID, queries, "ada"),
		store.PutJudgments(t.Context(), c.ID, judgments)); err != nil {
		t.Fatal(err)
	}
	form := url.Values{"case": {strconv.FormatInt(c.ID, 10)}, "profile": {"live"}, "name": {"default"},
		"folds": {"2"}, "seed": {"7"}, "l2": {"0.01, 0.1"}, "judge": {"person/ada"}}
	moves(t, post(h, "/profiles/fit", form), "/profiles/fit/1")
	job, err := store.Job(t.Context(), 1)
	if err != nil || job.Kind != (workbench.TuneTask{}).Kind() ||
		!strings.Contains(job.Argument, `"folds":2,"seed":7,"l2":[0.01,0.1]`) {
		t.Fatalf("asked for is %+v, %v", job, err)
	}
	if list := get(h, "/profiles/fit").Body.String(); !strings.Contains(list, "data-running") {
		t.Error("the list does not say that a job is under way")
	}
	if page := html.UnescapeString(get(h, "/profiles/fit/1").Body.String()); !strings.Contains(page, "waiting for the process") ||
		!strings.Contains(page, `http-equiv="refresh"`) || !strings.Contains(page, "data-running") {
		t.Error("a job that waits is not shown so")
	}
	for field, wrong := range map[string]string{"folds": "4", "l2": "much", "name": "a/b", "judge": "person/ben",
		"case": "9", "profile": "none@3"} {
		bad := maps.Clone(form)
		bad.Set(field, wrong)
		if w := post(h, "/profiles/fit", bad); w.Code != http.StatusBadRequest && w.Code != http.StatusNotFound {
			t.Errorf("%s %s is %d", field, wrong, w.Code)
		}
	}
	found := workbench.Fit{TuneTask: workbench.Defaults(), Learned: workbench.Learned{Penalty: 0.03,
		All:     workbench.FitPart{Name: "all", TuningMeans: eval.TuningMeans{Queries: 4, Before: 0.5, OutOfFold: 0.75}},
		Weights: []workbench.FitWeight{{Feature: "passage_bm25", Before: -0.5, After: 1}}, Same: []string{"recency"}}}
	found.All.Difference, found.All.P, found.All.Low, found.All.High = 0.25, 0.0123, 0.125, 0.375
	found.Case, found.Saved = c.ID, &revision.Name{Profile: "default", Number: 1}
	result, err := json.Marshal(found)
	if err == nil {
		err = store.FinishRequest(t.Context(), 1, string(result), "")
	}
	if err != nil {
		t.Fatal(err)
	}
	page := html.UnescapeString(get(h, "/profiles/fit/1").Body.String())
	for _, want := range []string{"saved as default@1", "+0.250", "0.0123", "+0.125 to +0.375", "−0.500", "+1.000",
		`class="weight minus"`, `<rect width="50"`, "unchanged: ", "L2 0.03"} {
		if !strings.Contains(page, want) {
			t.Errorf("the result lacks %q", want)
		}
	}
	if list := get(h, "/profiles/fit").Body.String(); !strings.Contains(list, "saved as default@1") ||
		strings.Contains(list, "data-running") {
		t.Error("the list does not have the result, or says that it is under way")
	}
	if w := get(h, "/profiles/fit/2"); w.Code != http.StatusNotFound {
		t.Errorf("a job that is none is %d", w.Code)
	}
}
