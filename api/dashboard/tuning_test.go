package dashboard_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"almanac/catalog"
	"almanac/retrieval/profile"
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
	if page := get(h, "/tuning").Body.String(); !strings.Contains(page, "No profile was saved yet") ||
		!strings.Contains(page, ">configured profile</a>") {
		t.Errorf("the first page is %s", page)
	}
	if page := get(h, "/tuning/edit").Body.String(); !strings.Contains(page, "rank_k: 60") {
		t.Errorf("the form is not filled from what is in force: %s", page)
	}
	form := url.Values{"name": {"default"}, "base": {"0"}, "note": {"<b>flatter"},
		"yaml": {written(t, func(p *profile.Profile) { p.RankK = 17 })}}
	moves(t, post(h, "/tuning/edit", form), "/tuning/diff?a=published&b=default%401")
	diff := get(h, "/tuning/diff?a=published&b=default@1").Body.String()
	for _, want := range []string{"1 field differs", "rank_k", "Publish default@1", `<td dir="auto">17</td>`} {
		if !strings.Contains(diff, want) {
			t.Errorf("the comparison lacks %q", want)
		}
	}
	moves(t, post(h, "/tuning/publish", url.Values{"revision": {"default@1"}, "since": {"0"}}), "/tuning")
	page := get(h, "/tuning").Body.String()
	for _, want := range []string{">default r1, live since ", `<span class="status good">live</span>`, "&lt;b&gt;flatter",
		"Roll back to this", "publish profile"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	live, _, err := store.Published(t.Context())
	if err != nil || len(live) != 1 || live[0].Number != 1 {
		t.Fatalf("in force is %v, %v", live, err)
	}
	moves(t, post(h, "/tuning/publish", url.Values{"revision": {"configured"}, "since": {"1"}}), "/tuning")
	if page := get(h, "/tuning").Body.String(); !strings.Contains(page, ">configured profile</a>") {
		t.Error("the masthead does not say that the configuration is in force")
	}
	if w := post(h, "/tuning/publish", url.Values{"revision": {"default@1"}, "since": {"1"}}); w.Code != 409 {
		t.Errorf("publishing over another's publication is %d", w.Code)
	}
	for _, wrong := range []string{"default@2", "default", ""} {
		w := post(h, "/tuning/publish", url.Values{"revision": {wrong}})
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
	moves(t, post(h, "/tuning/edit", first), "/tuning/diff?a=published&b=default%401")
	w := post(h, "/tuning/edit", second)
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
	moves(t, post(h, "/tuning/edit", second), "/tuning/diff?a=published&b=default%402")
	if all, err := store.Revisions(t.Context(), catalog.ProfileRevision); err != nil || len(all) != 2 {
		t.Errorf("%d revisions, %v", len(all), err)
	}
}

func TestWhatIsNoProfileIsKeptWithItsError(t *testing.T) {
	h, store := tuned(t)
	for name, text := range map[string]string{"no YAML": "name: [</textarea>",
		"unknown feature": written(t, func(p *profile.Profile) { p.Weights = map[string]float64{"luck": 1} })} {
		w := post(h, "/tuning/edit", url.Values{"name": {"default"}, "base": {"0"}, "yaml": {text}})
		page := w.Body.String()
		if w.Code != http.StatusBadRequest || !strings.Contains(page, "not saved") ||
			strings.Contains(page, "[</textarea>") {
			t.Errorf("%s is %d", name, w.Code)
		}
	}
	w := post(h, "/tuning/edit", url.Values{"name": {"../x"}, "yaml": {written(t, func(*profile.Profile) {})}})
	if w.Code != http.StatusBadRequest {
		t.Errorf("a path as a name is %d", w.Code)
	}
	if all, err := store.Revisions(t.Context(), catalog.ProfileRevision); err != nil || len(all) != 0 {
		t.Errorf("%d revisions, %v", len(all), err)
	}
}
