package dashboard_test

import (
	"errors"
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

func TestSearchesAreListed(t *testing.T) {
	h, store := open(t)
	err := errors.Join(store.CountSearches(t.Context(), []catalog.SearchCount{
		{Query: "fees", N: 9, Took: 18 * time.Millisecond, Longest: 7 * time.Millisecond},
		{Query: "<b>nothing</b>", N: 2, Zero: 2}}),
		store.CountClicks(t.Context(), []catalog.ClickCount{{Query: "fees", Record: 1, Position: 1, Shown: 4},
			{Query: "fees", Record: 2, Position: 2, Shown: 4, Clicked: 3}}))
	if err != nil {
		t.Fatal(err)
	}
	holds(t, get(h, "/searches").Body.String(), "fees", "2.0 ms", "7.0 ms", "3 of 4", ">2.0<", "&lt;b&gt;nothing&lt;/b&gt;",
		"<dd>11", "18.2 %", "0 in the week before", "Searches a day")
	lacks(t, get(h, "/searches?order=zero").Body.String(), ">fees<")
	if w := get(h, "/searches?order=x"); w.Code != http.StatusBadRequest {
		t.Errorf("an unknown order is %d", w.Code)
	}
	err = store.CountSearches(t.Context(), []catalog.SearchCount{{Query: "=fees", N: 1}, {Query: `"Fees`, N: 2, Zero: 2},
		{Query: "fees", N: 5, LastAt: time.Now().AddDate(0, 0, -8)}})
	if err != nil {
		t.Fatal(err)
	}
	holds(t, get(h, "/searches").Body.String(), "and 2 alike", `<td class="n">17</td>`, "5 in the week before")
	w := get(h, "/searches/csv?days=3")
	holds(t, w.Header().Get("Content-Disposition")+w.Body.String(), `attachment; filename="searches.csv"`,
		"fees,12,2,0,0,", `""Fees | =fees`)
	moves(t, post(h, "/searches/sample", url.Values{"name": {"july"}, "how": {"top"}, "n": {"1"}}), "/cases/1")
	queries, err := store.Queries(t.Context(), 1)
	if err != nil || len(queries) != 1 || queries[0].Text != "fees" {
		t.Errorf("the case has %v, %v", queries, err)
	}
}

func TestUndo(t *testing.T) {
	h, store := open(t)
	for i, data := range []string{"a: [b]\n", "a: [c]\n"} {
		r, err := store.SaveRevision(t.Context(), catalog.Revision{Kind: catalog.SynonymsRevision, Base: i, Data: data})
		if err == nil {
			_, err = store.Publish(t.Context(), catalog.Publication{Kind: r.Kind, Number: r.Number, By: "ada"}, 0)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	c, err := store.PutCase(t.Context(), catalog.Case{Name: "x"}, "ada")
	if err == nil {
		err = store.PutQueries(t.Context(), c.ID, []catalog.CaseQuery{{ID: "q1", Text: "fees"}}, "ada")
	}
	if err == nil {
		err = store.PutJudgments(t.Context(), c.ID, []catalog.Judgment{
			{Query: "q1", Target: "a.md", Judge: "person/ada", Grade: 2}})
	}
	if err == nil {
		err = store.DropQuery(t.Context(), c.ID, "q1", "ben")
	}
	if err != nil {
		t.Fatal(err)
	}
	page := get(h, "/changes").Body.String()
	holds(t, page, "ben", "publish synonyms@1")
	var offered []string
	for _, form := range strings.Split(page, `action="/changes/`)[1:] {
		id, _, _ := strings.Cut(form, "/undo")
		offered = append(offered, id)
	}
	// Of two publications the second, and the removed query; not the query that was new.
	if !slices.Equal(offered, []string{"7", "4"}) {
		t.Errorf("the log offers to undo %v: %s", offered, page)
	}
	for id, status := range map[string]int{"1": 400, "2": 400, "6": 400, "99": 404} {
		if w := post(h, "/changes/"+id+"/undo", nil); w.Code != status {
			t.Errorf("undoing change %s is %d, want %d", id, w.Code, status)
		}
	}
	moves(t, post(h, "/changes/7/undo", nil), "/changes") // the removed query
	moves(t, post(h, "/changes/4/undo", nil), "/changes") // the second publication
	got, err := store.Judgments(t.Context(), c.ID)
	if err != nil || len(got) != 1 || got[0].Grade != 2 {
		t.Errorf("judgments are %v, %v", got, err)
	}
	live, _, err := store.Published(t.Context())
	if err != nil || live[0].Number != 1 {
		t.Errorf("in force is %+v, %v", live, err)
	}
}
