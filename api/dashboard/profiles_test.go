package dashboard_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"almanac/catalog"
	"almanac/retrieval/eval"
	"almanac/retrieval/ranking"
	"almanac/retrieval/workbench"
)

// written is the default profile as YAML, changed.
func written(t *testing.T, change func(*ranking.Profile)) string {
	t.Helper()
	p, err := ranking.Load(ranking.DefaultName)
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
	holds(t, get(h, "/profiles").Body.String(), "No profile was saved yet", ">live: configured</a>")
	holds(t, get(h, "/profiles/edit").Body.String(), "rank_k: 60")
	edits(t, h, func(p *ranking.Profile) { p.RankK = 17 })
	holds(t, get(h, "/profiles/diff?a=live&b=default@1").Body.String(), "1 field differs", "rank_k",
		"/profiles/publish?revision=default%401", `<td dir="auto">17</td>`)
	asked := get(h, "/profiles/publish?revision=default@1").Body.String()
	holds(t, asked, "Not measured", "/evaluation/new?a=live&amp;b=default%401", "<code>rank_k</code>", "&lt;b&gt;flatter")
	moves(t, post(h, "/profiles/publish", formOf(t, asked, "/profiles/publish")), "/profiles?published=1")
	holds(t, get(h, "/profiles?published=1").Body.String(), ">live: default@1</a>", `<span class="status good">live</span>`,
		"&lt;b&gt;flatter", "/profiles/publish?revision=configured&amp;note=back+to+configured", "default@1 is live",
		"/lab?a=configured&amp;b=live", `action="/changes/2/undo"`)
	live, _, err := store.Published(t.Context())
	if err != nil || len(live) != 1 || live[0].Number != 1 {
		t.Fatalf("in force is %v, %v", live, err)
	}
	moves(t, post(h, "/profiles/publish", url.Values{"revision": {"configured"}, "since": {"1"}}), "/profiles?published=2")
	holds(t, get(h, "/profiles").Body.String(), ">live: configured</a>")
	for revision, status := range map[string]int{"default@1": 409, "default@2": 404, "default": 400, "": 400} {
		w := post(h, "/profiles/publish", url.Values{"revision": {revision}, "since": {"1"}})
		if w.Code != status {
			t.Errorf("publishing %q, when another was since, is %d, want %d", revision, w.Code, status)
		}
	}
}

func TestTwoWhoEditAProfileLoseNothing(t *testing.T) {
	h, store := tuned(t)
	edits(t, h, func(p *ranking.Profile) { p.RankK = 17 })
	second := url.Values{"name": {"default"}, "base": {"0"}, "note": {"mine"},
		"yaml": {written(t, func(p *ranking.Profile) { p.Floor = 0.123 })}}
	w := post(h, "/profiles/edit", second)
	if w.Code != http.StatusConflict {
		t.Fatalf("the second is %d", w.Code)
	}
	holds(t, w.Body.String(), "Somebody else was faster", "floor: 0.123", `name="base" value="1"`, `value="mine"`,
		"<code>rank_k</code>", "<code>floor</code>")
	second.Set("base", "1")
	moves(t, post(h, "/profiles/edit", second), "/profiles/diff?a=live&b=default%402")
	if all, err := store.Revisions(t.Context(), catalog.ProfileRevision); err != nil || len(all) != 2 {
		t.Errorf("%d revisions, %v", len(all), err)
	}
}

func TestAFitIsAskedForAndShown(t *testing.T) {
	h, store := tuned(t)
	holds(t, get(h, "/profiles/fit").Body.String(), "There is no case yet")
	c := feesCase(t, store)
	form := url.Values{"case": {"1"}, "profile": {"live"}, "name": {"default"}, "folds": {"1"}, "seed": {"7"},
		"l2": {"0.01, 0.1"}, "judge": {"person/ada"}}
	if w := post(h, "/profiles/fit", form); w.Code != http.StatusBadRequest {
		t.Errorf("one fold is %d", w.Code)
	}
	form.Set("folds", "2")
	for id := range 2 { // four judged queries, two for each fold
		q := fmt.Sprintf("more%d", id)
		err := errors.Join(store.PutQueries(t.Context(), c.ID, []catalog.CaseQuery{{ID: q, Text: q}}, "ada"),
			store.PutJudgments(t.Context(), c.ID, []catalog.Judgment{{Query: q, Target: "doc:a", Judge: "person/ada", Grade: 3}}))
		if err != nil {
			t.Fatal(err)
		}
	}
	moves(t, post(h, "/profiles/fit", form), "/profiles/fit/1")
	job, err := store.Job(t.Context(), 1)
	if err != nil || job.Kind != (workbench.TuneTask{}).Kind() ||
		!strings.Contains(job.Argument, `"folds":2,"seed":7,"l2":[0.01,0.1]`) {
		t.Fatalf("asked for is %+v, %v", job, err)
	}
	holds(t, get(h, "/profiles/fit").Body.String(), "data-running")
	holds(t, get(h, "/profiles/fit/1").Body.String(), "waiting for the process", `http-equiv="refresh"`, "data-running")
	for field, wrong := range map[string]string{"name": "a/b", "judge": "person/ben", "case": "9", "profile": "none@3"} {
		bad := maps.Clone(form)
		bad.Set(field, wrong)
		if w := post(h, "/profiles/fit", bad); w.Code != http.StatusBadRequest && w.Code != http.StatusNotFound {
			t.Errorf("%s %s is %d", field, wrong, w.Code)
		}
	}
	found := workbench.Fit{TuneTask: workbench.Defaults(), Learned: eval.Learned{Penalty: 0.03,
		All:     eval.TuningPart{Name: "all", Queries: 4, Before: 0.5, OutOfFold: 0.75},
		Weights: []eval.TuningWeight{{Feature: "passage_bm25", Before: -0.5, After: 1}}, Same: []string{"recency"}}}
	found.All.Difference, found.All.P, found.All.Low, found.All.High = 0.25, 0.0123, 0.125, 0.375
	found.Case, found.Saved = c.ID, &ranking.Name{Profile: "default", Number: 1}
	result, err := json.Marshal(found)
	if err == nil {
		err = store.FinishRequest(t.Context(), 1, string(result), "")
	}
	if err != nil {
		t.Fatal(err)
	}
	holds(t, html.UnescapeString(get(h, "/profiles/fit/1").Body.String()), "saved as default@1", "+0.250", "0.0123",
		"+0.125 to +0.375", "−0.500", "+1.000", `class="weight minus"`, `<rect width="50"`, "unchanged: ", "L2 0.03")
	list := get(h, "/profiles/fit").Body.String()
	holds(t, list, "saved as default@1")
	lacks(t, list, "data-running")
	if w := get(h, "/profiles/fit/2"); w.Code != http.StatusNotFound {
		t.Errorf("a job that is none is %d", w.Code)
	}
}
