package dashboard_test

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"almanac/catalog"
	"almanac/catalog/sqlstore"
	"almanac/retrieval/eval"
	"almanac/retrieval/workbench"
)

// judgedCase stores a case with two judged queries.
func judgedCase(t *testing.T, store *sqlstore.Store, name string) catalog.Case {
	t.Helper()
	c, err := store.PutCase(t.Context(), catalog.Case{Name: name}, "ada")
	if err == nil {
		err = store.PutQueries(t.Context(), c.ID, []catalog.CaseQuery{{ID: "q1", Text: "fees & dues", Kind: "task"},
			{ID: "q2", Text: "<i>moor</i>"}}, "ada")
	}
	if err == nil {
		err = store.PutJudgments(t.Context(), c.ID, []catalog.Judgment{
			{Query: "q1", Target: "a.md", Judge: "person/ada", Grade: 3}, {Query: "q2", Target: "b.md", Judge: "clicks",
				Grade: 1}})
	}
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// ran stores a run of a case that was made on a day: nDCG@10 of q1 and q2.
func ran(t *testing.T, store *sqlstore.Store, c catalog.Case, profile string, day int, values ...float64) int64 {
	t.Helper()
	r := eval.Report{Collection: c.Name, Profile: profile, Queries: len(values), Kinds: map[string]eval.Kind{}}
	for i, v := range values {
		id := fmt.Sprintf("q%d", i+1)
		x := eval.QueryReport{Query: eval.Query{ID: id, Text: []string{"fees & dues", "<i>moor</i>"}[i], Kind: "task"},
			Ranking: []string{profile, "b.md"}, Measures: eval.Measures{NDCG10: v, Unjudged10: .5}}
		if v < 0 {
			x.Failure, x.Measures = "engine <down>", eval.Measures{}
			r.Failed++
		}
		r.PerQuery = append(r.PerQuery, x)
		r.NDCG10 += max(0, v) / float64(len(values))
	}
	id, err := workbench.Save(t.Context(), store, workbench.Run{Report: r, Evaluation: catalog.Evaluation{Case: c.ID,
		At: time.Date(2030, 1, day, 0, 0, 0, 0, time.UTC), By: "ada", Profile: profile, Generation: int64(day), Model: "m",
		Version: "v1"}})
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// holds checks that a page has all of some texts.
func holds(t *testing.T, page string, want ...string) {
	t.Helper()
	for _, text := range want {
		if !strings.Contains(page, text) {
			t.Errorf("the page lacks %q:\n%s", text, page)
		}
	}
}

func TestARunIsAskedFor(t *testing.T) {
	h, store := open(t)
	holds(t, get(h, "/evaluation").Body.String(), "There is no case yet")
	c := judgedCase(t, store, "fees")
	holds(t, get(h, "/evaluation/new?case=1&a=keyword&b=rrf").Body.String(), `<option value="1" selected>fees`,
		"<option selected>keyword</option>", "<option selected>rrf</option>", `value="person/ada"`, `value="clicks"`)
	for _, tt := range []struct {
		wrong  url.Values
		status int
	}{
		{url.Values{"case": {"1"}}, 400},
		{url.Values{"case": {"1"}, "profile": {"x"}}, 400},
		{url.Values{"case": {"1"}, "profile": {"rrf"}, "judge": {"person/ben"}}, 400},
		{url.Values{"case": {"9"}, "profile": {"rrf"}}, 404},
	} {
		if w := post(h, "/evaluation", tt.wrong); w.Code != tt.status {
			t.Errorf("%v is %d, want %d", tt.wrong, w.Code, tt.status)
		}
	}
	moves(t, post(h, "/evaluation", url.Values{"case": {"1"}, "profile": {"live", "rrf", ""}, "judge": {"clicks"}}),
		"/evaluation?case=1")
	job, err := store.Job(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	a, err := workbench.TaskOf[workbench.EvalTask](job)
	if err != nil || a.Case != c.ID ||
		!slices.Equal(a.Profiles, []string{"live", "rrf"}) || !slices.Equal(a.Judges, []string{"clicks"}) {
		t.Errorf("argument %s", job.Argument)
	}
	holds(t, get(h, "/evaluation").Body.String(), "Under way", "live, rrf", "waiting")
	if _, err := store.ProgressRequest(t.Context(), 1, 3, 8); err != nil {
		t.Fatal(err)
	}
	holds(t, get(h, "/evaluation").Body.String(), "3 of 8", `<progress max="8" value="3"`)
	if err := store.FinishRequest(t.Context(), 1, "", "no <engine>"); err != nil {
		t.Fatal(err)
	}
	holds(t, get(h, "/evaluation").Body.String(), "The last run failed", "no &lt;engine&gt;")
}

func TestRunsAreListedWithTheirTrend(t *testing.T) {
	h, store := open(t)
	fees, other := judgedCase(t, store, "fees"), judgedCase(t, store, "other")
	ran(t, store, fees, "live", 1, .5, .7)
	ran(t, store, fees, "live", 2, .6, .8)
	ran(t, store, fees, "rrf", 2, .1, .3)
	ran(t, store, other, "rrf", 3, .9, .9)
	page := get(h, "/evaluation").Body.String()
	holds(t, page, `aria-label="nDCG@10, fees, live: from 0.6000 on 1 Jan 2030 to 0.7000 on 2 Jan 2030"`,
		`href="/evaluation/runs?run=2&amp;run=3"`, "<b>0.900</b>", `name="run" value="4"`)
	lacks(t, page, "fees, rrf") // one run has no trend
	lacks(t, get(h, "/evaluation?case=2").Body.String(), `value="1" aria-label`)
	holds(t, get(h, "/evaluation?measure=mrr").Body.String(), `aria-label="MRR, fees, live`)
}

func TestRunsAreCompared(t *testing.T) {
	h, store := open(t)
	c := judgedCase(t, store, "fees")
	ran(t, store, c, "live", 1, .5, .9)
	ran(t, store, c, "rrf", 2, .7, .4)
	ran(t, store, c, "keyword", 2, .7, -1)
	page := get(h, "/evaluation/runs?run=2&run=1&run=3&with=2").Body.String()
	holds(t, page, "rrf against live", "−0.150", "no clear difference", "generation of the index",
		`/evaluation/runs?run=2&amp;run=1&amp;run=3&amp;with=3#queries`, "engine &lt;down&gt;", "50.0 %",
		"/lab?a=live&amp;b=rrf&amp;q=%3Ci%3Emoor%3C%2Fi%3E",
		"/cases/1/judge?profile=live&amp;profile=rrf&amp;query=q1", "0.333", "&lt;i&gt;moor&lt;/i&gt;")
	_, queries, _ := strings.Cut(page, `id="queries"`)
	if lost, won := strings.Index(queries, "−0.500"), strings.Index(queries, "&#43;0.200"); lost < 0 || won < lost {
		t.Errorf("the loss is at %d, the gain at %d: want the loss first", lost, won)
	}
	// What failed takes no part: the keyword run is compared on one query.
	page = get(h, "/evaluation/runs?run=1&run=3").Body.String()
	holds(t, page, "keyword against live", "&#43;0.200", "engine &lt;down&gt;")
	lacks(t, page, "−0.9")
	holds(t, get(h, "/evaluation/runs?run=2").Body.String(), "the worst first", "/lab?a=rrf&amp;q=fees&#43;%26&#43;dues")
	other := judgedCase(t, store, "other")
	ran(t, store, other, "rrf", 3, .9, .9)
	for query, status := range map[string]int{"": 400, "run=x": 400, "run=99": 404, "run=1&run=4": 400,
		"run=1&run=2&run=3&run=4&run=5&run=6&run=7": 400} {
		if w := get(h, "/evaluation/runs?"+query); w.Code != status {
			t.Errorf("%q is %d, want %d", query, w.Code, status)
		}
	}
}

func TestACaseIsScheduled(t *testing.T) {
	h, store := open(t)
	judgedCase(t, store, "fees")
	moves(t, post(h, "/evaluation/schedule", url.Values{"case": {"1"}, "every": {"24h0m0s"}}), "/evaluation")
	cases, err := store.Cases(t.Context())
	if err != nil || cases[0].Every != 24*time.Hour {
		t.Errorf("every %v (%v)", cases[0].Every, err)
	}
	holds(t, get(h, "/evaluation").Body.String(), `<option value="24h0m0s" selected>every day`)
	for _, every := range []string{"", "x", "-1h"} {
		if w := post(h, "/evaluation/schedule", url.Values{"case": {"1"}, "every": {every}}); w.Code != 400 {
			t.Errorf("every %q is %d", every, w.Code)
		}
	}
}
