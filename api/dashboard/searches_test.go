package dashboard_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"almanac/catalog"
)

// post sends a form.
func post(h http.Handler, path string, form url.Values) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// moves checks that a change was made and where the browser goes from it.
func moves(t *testing.T, w *httptest.ResponseRecorder, to string) {
	t.Helper()
	if w.Code != http.StatusSeeOther || w.Header().Get("Location") != to {
		t.Fatalf("got %d to %q, want a redirect to %s: %s", w.Code, w.Header().Get("Location"), to, w.Body)
	}
}

func TestAnalyticsListsSearches(t *testing.T) {
	h, store := open(t)
	err := store.CountSearches(t.Context(), []catalog.SearchCount{
		{Query: "fees", N: 9, Took: 18 * time.Millisecond, Longest: 7 * time.Millisecond},
		{Query: "<b>nothing</b>", N: 2, Zero: 2}})
	if err != nil {
		t.Fatal(err)
	}
	err = store.CountClicks(t.Context(), []catalog.ClickCount{{Query: "fees", Record: 1, Position: 1, Shown: 4},
		{Query: "fees", Record: 2, Position: 2, Shown: 4, Clicked: 3}})
	if err != nil {
		t.Fatal(err)
	}
	page := get(h, "/searches").Body.String()
	for _, want := range []string{"fees", "2.0 ms", "7.0 ms", "3 of 4", ">2.0<", "&lt;b&gt;nothing&lt;/b&gt;"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if page := get(h, "/searches?order=zero").Body.String(); strings.Contains(page, ">fees<") {
		t.Error("what found something is among what did not")
	}
	if w := get(h, "/searches?order=x"); w.Code != http.StatusBadRequest {
		t.Errorf("an unknown order is %d", w.Code)
	}
	holds(t, page, "<dd>11", "18.2 %", "0 in the week before", "Searches a day")
	err = store.CountSearches(t.Context(), []catalog.SearchCount{{Query: "=fees", N: 1}, {Query: `"Fees`, N: 2, Zero: 2},
		{Query: "fees", N: 5, LastAt: time.Now().AddDate(0, 0, -8)}})
	if err != nil {
		t.Fatal(err)
	}
	page = get(h, "/searches").Body.String()
	holds(t, page, "and 2 alike", `<td class="n">17</td>`, "5 in the week before")
	if w := get(h, "/searches/csv?days=3"); w.Header().Get("Content-Disposition") != `attachment; filename="searches.csv"` ||
		!strings.Contains(w.Body.String(), "fees,12,2,0,0,") || !strings.Contains(w.Body.String(), `""Fees | =fees`) {
		t.Errorf("as CSV: %v %s", w.Header(), w.Body)
	}
	moves(t, post(h, "/searches/sample", url.Values{"name": {"july"}, "how": {"top"}, "n": {"1"}}), "/cases/1")
	queries, err := store.Queries(t.Context(), 1)
	if err != nil || len(queries) != 1 || queries[0].Text != "fees" {
		t.Errorf("the case has %v, %v", queries, err)
	}
	if w := post(h, "/searches/sample", url.Values{"name": {"july"}, "how": {"top"}}); w.Code != http.StatusBadRequest {
		t.Errorf("a second case of a name is %d", w.Code)
	}
}

func TestUndo(t *testing.T) {
	h, store := open(t)
	for _, data := range []string{"a: [b]\n", "a: [c]\n"} {
		newest, _ := store.Revision(t.Context(), catalog.SynonymsRevision, "", 0)
		r, err := store.SaveRevision(t.Context(), catalog.Revision{Kind: catalog.SynonymsRevision, Base: newest.Number,
			By: "ada", Data: data})
		if err != nil {
			t.Fatal(err)
		}
		_, err = store.Publish(t.Context(), catalog.Publication{Kind: r.Kind, Number: r.Number, By: "ada"}, 0)
		if err != nil {
			t.Fatal(err)
		}
	}
	c, err := store.PutCase(t.Context(), catalog.Case{Name: "x"}, "ada")
	if err != nil {
		t.Fatal(err)
	}
	err = store.PutQueries(t.Context(), c.ID, []catalog.CaseQuery{{ID: "q1", Text: "fees"}}, "ada")
	if err != nil {
		t.Fatal(err)
	}
	judged := []catalog.Judgment{{Query: "q1", Target: "a.md", Judge: "person/ada", Grade: 2}}
	if err := store.PutJudgments(t.Context(), c.ID, judged); err != nil {
		t.Fatal(err)
	}
	if err := store.DropQuery(t.Context(), c.ID, "q1", "ben"); err != nil {
		t.Fatal(err)
	}
	page := get(h, "/changes").Body.String()
	var offered []string
	for _, form := range strings.Split(page, `action="/changes/`)[1:] {
		id, _, _ := strings.Cut(form, "/undo")
		offered = append(offered, id)
	}
	// Of two publications the second, and the removed query; not the query that was new.
	if !strings.Contains(page, "ben") || !strings.Contains(page, "publish synonyms@1") ||
		!slices.Equal(offered, []string{"7", "4"}) {
		t.Errorf("the log lacks changes, or offers to undo %v: %s", offered, page)
	}
	for _, id := range []string{"2", "6"} {
		if w := post(h, "/changes/"+id+"/undo", nil); w.Code != http.StatusBadRequest {
			t.Errorf("undoing change %s is %d", id, w.Code)
		}
	}
	list, err := store.Audit(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	moves(t, post(h, "/changes/7/undo", nil), "/changes") // the removed query
	moves(t, post(h, "/changes/4/undo", nil), "/changes") // the second publication
	if w := post(h, "/changes/1/undo", nil); w.Code != http.StatusBadRequest {
		t.Errorf("undoing a save is %d", w.Code)
	}
	if w := post(h, "/changes/99/undo", nil); w.Code != http.StatusNotFound {
		t.Errorf("undoing nothing is %d", w.Code)
	}
	got, err := store.Judgments(t.Context(), c.ID)
	if err != nil || len(got) != 1 || got[0].Grade != 2 {
		t.Errorf("judgments are %v, %v; the log was %+v", got, err, list)
	}
	live, _, err := store.Published(t.Context())
	if err != nil || live[0].Number != 1 {
		t.Errorf("in force is %+v, %v", live, err)
	}
}
