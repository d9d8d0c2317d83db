package dashboard_test

import (
	"bytes"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"testing"

	"almanac/api/admin"
	"almanac/catalog"
)

// upload sends a file to the import of cases.
func upload(t *testing.T, h http.Handler, name string, body []byte, fields ...string) *httptest.ResponseRecorder {
	t.Helper()
	var form bytes.Buffer
	m := multipart.NewWriter(&form)
	file, err := m.CreateFormFile("file", name)
	if err == nil {
		_, err = file.Write(body)
	}
	for i := 0; i < len(fields) && err == nil; i += 2 {
		err = m.WriteField(fields[i], fields[i+1])
	}
	if err == nil {
		err = m.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequest(http.MethodPost, "/cases/import", &form)
	r.Header.Set("Content-Type", m.FormDataContentType())
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func TestACaseIsMadeAndItsQueriesChanged(t *testing.T) {
	h, store := tuned(t)
	holds(t, get(h, "/cases").Body.String(), "There is no case yet")
	moves(t, post(h, "/cases", url.Values{"name": {" harbour <b> "}, "description": {"of ships"}}), "/cases/1")
	if w := post(h, "/cases", url.Values{"name": {""}}); w.Code != http.StatusBadRequest {
		t.Errorf("a case without a name is %d", w.Code)
	}
	query := url.Values{"text": {"mooring <i>"}, "kind": {"task"}, "need": {"how to"}, "note": {"n"}}
	moves(t, post(h, "/cases/1/query", query), "/cases/1")
	holds(t, get(h, "/cases/1").Body.String(), "harbour &lt;b&gt;", "mooring &lt;i&gt;", "how to", "0 judged, 1 not")

	// Two who edit a query: the second sees what the first made of it, and keeps what they typed.
	query.Set("query", "q1")
	query.Set("revision", "1")
	query.Set("need", "where")
	moves(t, post(h, "/cases/1/query", query), "/cases/1")
	query.Set("need", "when")
	w := post(h, "/cases/1/query", query)
	if w.Code != http.StatusConflict {
		t.Errorf("the second is %d", w.Code)
	}
	holds(t, w.Body.String(), "Somebody else was faster", `<dd dir="auto">where</dd>`, ">when</textarea>",
		`name="revision" value="2"`)
	query.Set("revision", "2")
	moves(t, post(h, "/cases/1/query", query), "/cases/1")
	holds(t, get(h, "/cases/1/query?query=q1").Body.String(), "when")

	moves(t, post(h, "/cases/1", url.Values{"do": {"describe"}, "description": {"of boats"}}), "/cases/1")
	holds(t, get(h, "/cases").Body.String(), "of boats")
	moves(t, post(h, "/cases/1/query", url.Values{"query": {"q1"}, "do": {"remove"}}), "/cases/1")
	moves(t, post(h, "/cases/1", url.Values{"do": {"remove"}}), "/cases")
	if cases, err := store.Cases(t.Context()); err != nil || len(cases) != 0 {
		t.Errorf("after it was removed there is %v, %v", cases, err)
	}
	for _, path := range []string{"/cases/1", "/cases/x", "/cases/1/judge?query=q1", "/cases/1/export",
		"/cases/1/query?query=q1"} {
		if w := get(h, path); w.Code != http.StatusNotFound {
			t.Errorf("%s is %d", path, w.Code)
		}
	}
}

func TestAPoolIsJudged(t *testing.T) {
	h, store := tuned(t)
	w := get(h, "/cases/pool?q=fees&a=live&b=edited")
	holds(t, w.Body.String(), "No case has this query yet", "save it as a revision first")
	moves(t, post(h, "/cases/pool", url.Values{"q": {"fees"}, "name": {"money"}, "profile": {"live"}}),
		"/cases/1/judge?profile=live&query=q1")
	moves(t, get(h, "/cases/pool?q=+FEES&b=vector-only"), "/cases/1/judge?profile=vector-only&query=q1")

	session := "/cases/1/judge?profile=live&query=q1"
	page := get(h, session).Body.String()
	holds(t, page, "0 of 3", "Page ", "Nobody has written down")
	lacks(t, page, "<i>Page")
	grade := func(target, grade string) *httptest.ResponseRecorder {
		return post(h, "/cases/1/judge", url.Values{"query": {"q1"}, "profile": {"live"}, "target": {target},
			"grade": {grade}})
	}
	if err := store.PutJudgments(t.Context(), 1, []catalog.Judgment{{Query: "q1", Target: "doc:a", Judge: "person/bo",
		Grade: 2}}); err != nil {
		t.Fatal(err)
	}
	lacks(t, get(h, session+"&at=doc:a").Body.String(), "person/bo") // before one has graded
	holds(t, get(h, session).Body.String(), "others judged 1 of the rest", "fresh=1")
	moves(t, grade("doc:a", "3"), "/cases/1/judge?after=doc%3Aa&profile=live&query=q1")
	page = get(h, session+"&at=doc:a").Body.String()
	holds(t, page, "1 of 3", "person/bo")
	for _, wrong := range [][2]string{{"doc:a", "4"}, {"doc:a", ""}, {"doc:nowhere", "1"}} {
		if w := grade(wrong[0], wrong[1]); w.Code < 400 || w.Code >= 500 {
			t.Errorf("grade %q is %d", wrong, w.Code)
		}
	}
	holds(t, get(h, session+"&find=anything").Body.String(), "doc%3Ab")
	undo := url.Values{"query": {"q1"}, "profile": {"live"}, "do": {"undo"}}
	moves(t, post(h, "/cases/1/judge", undo), "/cases/1/judge?at=doc%3Aa&profile=live&query=q1")
	if w := post(h, "/cases/1/judge", undo); w.Code != http.StatusBadRequest {
		t.Errorf("nothing to take back is %d", w.Code)
	}
	for _, target := range []string{"doc:a", "doc:b", "doc:c"} {
		grade(target, "1")
	}
	holds(t, get(h, session).Body.String(), "3 of 3", "All are judged")

	two := []string{admin.Operator, "bo"}
	slices.Sort(two)
	holds(t, get(h, "/cases/1").Body.String(), "Cohen’s kappa", "/cases/1/agreement?a=person%2f"+two[0])
	if w := get(h, "/cases/1/agreement?a=person/x&b=person/bo"); w.Code != http.StatusNotFound {
		t.Errorf("judges who graded nothing together: %d", w.Code)
	}
	holds(t, get(h, "/cases/1/agreement?a=person/"+two[0]+"&b=person/"+two[1]).Body.String(), "Where they differ", "fees", "doc:a")
}

func TestACaseIsExportedAndImported(t *testing.T) {
	h, store := tuned(t)
	judgedCase(t, store, "harbour")
	_, err := store.Apply(t.Context(), catalog.Batch{Source: "files", Entries: []catalog.Entry{
		{Record: catalog.Record{Kind: catalog.KindDoc, Key: "dir/a.md", Path: "dir/a.md"}}}})
	if err != nil {
		t.Fatal(err)
	}
	w := get(h, "/cases/1/export")
	archive := w.Body.Bytes()
	if w.Header().Get("Content-Disposition") != `attachment; filename="harbour.zip"` {
		t.Errorf("headers %v", w.Header())
	}
	w = upload(t, h, "elsewhere.zip", archive)
	holds(t, w.Body.String(), "2 new queries and 1 judgment are in", "elsewhere", "a.md")
	trec := get(h, "/cases/1/export?form=trec").Body.String()
	if trec != "q1 0 a.md 3\n" {
		t.Errorf("as TREC has it: %q", trec)
	}
	upload(t, h, "later.qrels", []byte(trec), "name", "elsewhere", "judge", "trec")
	judgments, err := store.Judgments(t.Context(), 2)
	if err != nil || len(judgments) != 2 || judgments[0].Judge != "import/elsewhere" || judgments[1].Judge != "import/trec" {
		t.Errorf("%+v, %v", judgments, err)
	}
	for name, body := range map[string][]byte{"no judgments": []byte("hello"), "half an archive": archive[:100]} {
		if w := upload(t, h, "x.zip", body); w.Code != http.StatusBadRequest {
			t.Errorf("%s is %d: %s", name, w.Code, w.Body)
		}
	}
	if cases, _ := store.Cases(t.Context()); len(cases) != 2 {
		t.Errorf("what is refused leaves %d cases", len(cases))
	}
}

func TestAModelAndClicksNeedTheirSettings(t *testing.T) {
	h, store := tuned(t)
	judgedCase(t, store, "harbour")
	holds(t, get(h, "/cases/1").Body.String(), "set judge.url and judge.model")
	for _, ask := range []string{"pool", "compare", "dance"} {
		if w := post(h, "/cases/1/model", url.Values{"do": {ask}}); w.Code != http.StatusBadRequest {
			t.Errorf("%s without a model is %d", ask, w.Code)
		}
	}
	holds(t, post(h, "/cases/1/clicks", nil).Body.String(), "server.clicks")
}
