package dashboard_test

import (
	"fmt"
	"html"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"almanac/catalog"
	"almanac/catalog/sqlstore"
	"almanac/retrieval/eval"
	"almanac/retrieval/ranking"
	"almanac/retrieval/workbench"
)

// feesCase stores a case that judges the last of the three records best for "fees".
func feesCase(t *testing.T, store *sqlstore.Store) catalog.Case {
	t.Helper()
	c, err := store.PutCase(t.Context(), catalog.Case{Name: "harbour",
		Description: "Of ships.\n\n- A berth is **not** a mooring."}, "ada")
	if err == nil {
		err = store.PutQueries(t.Context(), c.ID, []catalog.CaseQuery{{ID: "q1", Text: "Fees"}, {ID: "q2", Text: "tides"}}, "ada")
	}
	if err == nil {
		err = store.PutJudgments(t.Context(), c.ID, []catalog.Judgment{{Query: "q1", Target: "doc:c", Judge: "person/ada",
			Grade: 3, Note: "says <how much>"}, {Query: "q2", Target: "doc:a", Judge: "person/ada", Grade: 2}})
	}
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestResultsAreGradedInTheLab(t *testing.T) {
	h, store := tuned(t)
	holds(t, get(h, "/lab?q=fees").Body.String(), "make a case")
	c := feesCase(t, store)
	page := get(h, "/lab?q=fees").Body.String()
	holds(t, page, "<b>0.500</b>", `value="3 doc:c" data-grade="3" aria-pressed="true"`, `href="/lab/record?name=doc%3ac"`)
	form := formOf(t, page, "/lab")
	form.Set("grade", "3 doc:a")
	moves(t, post(h, "/lab", form), "/lab?q=fees#a-doc-a")
	mine := func(query string) (out []string) {
		judgments, err := store.Judgments(t.Context(), c.ID)
		if err != nil {
			t.Fatal(err)
		}
		for _, j := range judgments {
			if j.Query == query && j.Judge != "person/ada" {
				out = append(out, fmt.Sprint(j.Target, j.Grade))
			}
		}
		return out
	}
	if got := fmt.Sprint(mine("q1")); got != "[doc:a3]" {
		t.Errorf("stored is %s", got)
	}
	moves(t, post(h, "/lab", form), "/lab?q=fees#a-doc-a") // as a reload does
	if got := fmt.Sprint(mine("q1")); got != "[doc:a3]" {
		t.Errorf("after the same form again %s is stored", got)
	}
	// The button of one's own grade takes it back; that of somebody else's does not.
	holds(t, get(h, "/lab?q=fees").Body.String(), "<b>0.920</b>", `value="-1 doc:a" data-grade="3" aria-pressed="true"`,
		`value="3 doc:c" data-grade="3" aria-pressed="true"`)

	// A text that nobody saved is not lost by a grade, and both sides are measured by it.
	form = formOf(t, get(h, "/lab?q=fees").Body.String(), "/lab")
	form.Set("yaml-b", written(t, func(p *ranking.Profile) { p.RankK = 17 }))
	form.Set("grade", "-1 doc:a")
	form.Set("part", "results")
	w := post(h, "/lab", form)
	if w.Code != http.StatusOK || strings.Contains(w.Body.String(), "<html") {
		t.Fatalf("a part of the page is %d %s", w.Code, w.Body)
	}
	if n := strings.Count(w.Body.String(), "<b>0.500</b>"); n != 2 || len(mine("q1")) != 0 {
		t.Errorf("the grade taken back: %d sides are at .500, and there is %v", n, mine("q1"))
	}
	form.Del("part")
	form.Set("grade", "2 doc:b")
	if again := formOf(t, post(h, "/lab", form).Body.String(), "/lab"); !strings.Contains(again.Get("yaml-b"), "rank_k: 17") {
		t.Error("a grade loses the text of the right side")
	}

	// What the case does not have it gets with the first grade.
	form = formOf(t, get(h, "/lab?q=neap+tides").Body.String(), "/lab")
	form.Set("grade", "1 doc:b")
	moves(t, post(h, "/lab", form), "/lab?q=neap+tides#a-doc-b")
	if got := fmt.Sprint(mine("q3")); got != "[doc:b1]" {
		t.Errorf("the new query has %s", got)
	}
	for _, wrong := range []string{"4 doc:a", "doc:a", "1 doc:nowhere"} {
		form.Set("grade", wrong)
		if w := post(h, "/lab", form); w.Code != http.StatusOK || alert(t, w.Body.String()) == "" {
			t.Errorf("grade %q is %d without a word", wrong, w.Code)
		}
	}
}

func TestWeightsAreDrawnAndMeasured(t *testing.T) {
	h, store := tuned(t)
	feesCase(t, store)
	form := formOf(t, get(h, "/lab?q=fees&b=live").Body.String(), "/lab")
	form.Set("measure", "1")
	moves(t, post(h, "/lab", form), "/lab?b=live&measure=1&q=fees")
	page := html.UnescapeString(get(h, "/lab?b=live&measure=1&q=fees").Body.String())
	holds(t, page, "On\nall 2 queries of", "<b>0.000</b> nDCG@10 (0.750 → 0.750)")
	form.Set("weight dense", "0.25")
	again := formOf(t, post(h, "/lab", form).Body.String(), "/lab")
	if again.Get("b") != "edited" || !strings.Contains(again.Get("yaml-b"), "dense: 0.25") || again.Get("weight dense") != "0.25" {
		t.Errorf("a weight that was drawn: %q %q", again.Get("b"), again.Get("weight dense"))
	}
	again.Set("weight dense", "much")
	if got := formOf(t, post(h, "/lab", again).Body.String(), "/lab").Get("weight dense"); got != "0.25" {
		t.Errorf("what is no number makes it %q", got)
	}
	form.Set("part", "worth")
	worth := post(h, "/lab", form).Body.String()
	holds(t, worth, "all 2 queries of")
	lacks(t, worth, "Page")
}

// TestAComparisonIsSharedByItsAddress: it shows the same profiles when another is live. A text
// has to be saved first.
func TestAComparisonIsSharedByItsAddress(t *testing.T) {
	h, _ := tuned(t)
	page := get(h, "/lab?q=fees").Body.String()
	holds(t, page, `href="/lab?a=configured&amp;q=fees">Address to share`)
	form := formOf(t, page, "/lab")
	form.Set("yaml-b", written(t, func(p *ranking.Profile) { p.RankK = 17 }))
	page = post(h, "/lab", form).Body.String()
	holds(t, page, "save it as a revision\nfirst")
	lacks(t, page, "Address to share")
	edits(t, h, func(p *ranking.Profile) { p.RankK = 99 })
	moves(t, post(h, "/profiles/publish", url.Values{"revision": {"default@1"}}), "/profiles?published=1")
	holds(t, get(h, "/lab?q=fees&a=configured").Body.String(), "rank_k: 60")
	holds(t, get(h, "/lab?q=fees").Body.String(), `href="/lab?a=default%401&amp;q=fees"`)
}

// ranked stores a run of what is live that was made on a day.
func ranked(t *testing.T, store *sqlstore.Store, c catalog.Case, day int, as string, fees ...string) {
	t.Helper()
	r := eval.Report{Collection: c.Name, Profile: as, Queries: 1, PerQuery: []eval.QueryReport{
		{Query: eval.Query{ID: "q1", Text: "Fees"}, Ranking: fees, Measures: eval.Measures{NDCG10: 1 / float64(day)}}}}
	r.NDCG10 = 1 / float64(day)
	name := "live"
	if as == "default@1" {
		name = "default"
	}
	_, err := workbench.Save(t.Context(), store, workbench.Run{Report: r, Evaluation: catalog.Evaluation{Case: c.ID,
		At: time.Date(2030, 1, day, 0, 0, 0, 0, time.UTC), By: "ada", Profile: name}})
	if err != nil {
		t.Fatal(err)
	}
}

func TestACaseIsAHeatStrip(t *testing.T) {
	h, store := tuned(t)
	c := feesCase(t, store)
	holds(t, get(h, "/cases/1").Body.String(), "not measured yet", "Guidelines for judges", "<strong>not</strong>", "Of ships.")
	ranked(t, store, c, 1, "configured", "doc:c", "doc:a", "doc:b")
	ranked(t, store, c, 2, "configured", "doc:a", "doc:c", "doc:b")
	page := get(h, "/cases/1").Body.String()
	// The stored figures are others: what counts are the grades of today.
	holds(t, page, `aria-label="grades of the first ten: – 3 –"`, "<b>0.631</b>", "−0.369", `aria-label="1.000, 0.631"`,
		`href="/lab?case=1&amp;q=Fees"`, "<title>2: doc:c, 3</title>")
	if strings.Index(page, ">Fees</a>") > strings.Index(page, ">tides</a>") {
		t.Error("what was not measured comes before the worst")
	}
	lacks(t, get(h, "/cases/1?sort=unjudged&class=none").Body.String(), ">Fees</a>")
	holds(t, get(h, "/lab").Body.String(), "The worst of", `href="/lab?q=Fees"`)
}

func TestARecordSaysHowItIsFound(t *testing.T) {
	h, store := tuned(t)
	c := feesCase(t, store)
	ranked(t, store, c, 1, "configured", "doc:c")
	ranked(t, store, c, 2, "configured", "doc:a", "doc:c")
	ranked(t, store, c, 3, "configured", "doc:a", "doc:b")
	form := url.Values{"query": {"spring tide"}, "place doc:c": {"1"}, "base": {"0"}, "do": {"publish"}}
	moves(t, post(h, "/rules/pins", form), "/rules/pins?published=1")
	holds(t, get(h, "/lab/record?name=doc:c").Body.String(), "1 → 2 → –", "not in 100", "person/ada",
		"says &lt;how much&gt;", "spring tide", "/lab?q=Fees&amp;case=1&amp;why=doc%3ac")
	holds(t, get(h, "/lab/record?name=doc:b").Body.String(), "– → – → 2", "No live rule has it")
}

// TestAnUnknownRecordIsAskedForAgain: with what was typed, and links to the records that may be
// meant.
func TestAnUnknownRecordIsAskedForAgain(t *testing.T) {
	h, _ := tuned(t)
	for address, want := range map[string]struct {
		status int
		says   string
	}{
		"/lab/record?name=error+codes": {404, `there is no record "error codes"; the nearest are <i>Page a (doc:a)`},
		"/lab/record":                  {400, "is to be named"},
		"/lab/record?name=+":           {400, "is to be named"},
	} {
		w := get(h, address)
		if said := alert(t, w.Body.String()); w.Code != want.status || !strings.Contains(said, want.says) {
			t.Errorf("%s is %d %q", address, w.Code, said)
		}
	}
	page := get(h, "/lab/record?name=error+codes").Body.String()
	holds(t, page, `value="error codes"`, `href="/lab/record?name=doc%3Aa"`)
	lacks(t, page, "<i>Page")
	holds(t, get(h, "/lab?q=fees&why=doc:zzz").Body.String(), "there is no record &#34;doc:zzz&#34;; the nearest are")
}

func TestAPreviewSaysWhatItIsWorth(t *testing.T) {
	h, store := tuned(t)
	feesCase(t, store)
	for path, form := range map[string]url.Values{
		"/rules":      {"name": {"fees"}, "others": {"dues"}, "do": {"preview"}},
		"/rules/pins": {"query": {"fees"}, "place doc:c": {"1"}, "do": {"preview"}}} {
		// The fake turns the list around: the judged record of "fees" comes first, that of "tides" last.
		holds(t, html.UnescapeString(post(h, path, form).Body.String()), "nDCG@10 0.500 → <b>1.000</b>",
			"0.750 → <b>0.750</b>", "1 better", "1 worse", `href="/lab/record?name=`)
	}
	lacks(t, get(h, "/rules?name=fees").Body.String(), "Remove the group") // there is none
}

func TestPublishingSaysWhatWasMeasured(t *testing.T) {
	h, store := tuned(t)
	c := feesCase(t, store)
	edits(t, h, func(p *ranking.Profile) { p.RankK = 17 })
	ranked(t, store, c, 4, "configured", "doc:a", "doc:c")
	ranked(t, store, c, 2, "default@1", "doc:c", "doc:a")
	page := get(h, "/profiles/publish?revision=default@1").Body.String()
	holds(t, page, "harbour", "0.250", "0.500", "&#43;0.250", "/evaluation/runs?run=2&amp;run=1", "no clear difference")
	lacks(t, page, "Not measured")
	moves(t, post(h, "/profiles/publish", formOf(t, page, "/profiles/publish")), "/profiles?published=1")
	holds(t, get(h, "/profiles/publish?revision=default@1").Body.String(), "It is live already")
	_, at, _ := strings.Cut(get(h, "/profiles?published=1").Body.String(), `action="/changes/`)
	id, _, _ := strings.Cut(at, "/")
	moves(t, post(h, "/changes/"+id+"/undo", nil), "/changes")
	holds(t, get(h, "/profiles").Body.String(), ">live: configured</a>")
	lacks(t, get(h, "/profiles?published=1").Body.String(), "default@1 is live")
}
