package dashboard_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"almanac/api/admin"
	"almanac/api/dashboard/form"
	"almanac/catalog"
	"almanac/retrieval/ranking"
)

func TestOperationsAreShownAndAskedFor(t *testing.T) {
	store := empty(t)
	now := time.Date(2030, 5, 2, 12, 0, 0, 0, time.UTC)
	for _, s := range []catalog.SourceState{{Name: "docs", Kind: "docs", LastRun: now, LastSuccess: now},
		{Name: "mail", Kind: "mail", LastRun: now, Error: "<b>no route", Skipped: 2, Remark: "a.md and 1 more: it has no number"},
		{Name: "papers", Kind: "whitepaper", LastRun: now, LastSuccess: now, Skipped: 1,
			Remark: catalog.NoRecords + "; <p>.pdf: gone"},
		{Name: "grants", Kind: "grants", LastRun: now.AddDate(0, 0, -9), Freshness: time.Hour},
		{Name: "talks", Kind: "video", Cursor: "killed in its first run"}} {
		if err := store.SetSource(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	for source, title := range map[string]string{"docs": "Tides", "mail": "The same"} {
		if _, err := store.Apply(t.Context(), catalog.Batch{Source: source, Entries: []catalog.Entry{
			{Record: catalog.Record{Kind: catalog.KindDoc, Key: "tides", Title: title}}}}); err != nil {
			t.Fatal(err)
		}
	}
	err := store.CountViolations(t.Context(), []catalog.Violation{
		{Directive: "img-src", Blocked: "https://buoys.example", N: 3, LastAt: now, Clients: 1}})
	if err != nil {
		t.Fatal(err)
	}
	h := serve(t, form.Config{Search: &shelf{}, Network: "Sample",
		Source: ranking.Source{Store: store}, Metrics: admin.NewMetrics(), Engines: []string{"keyword",
			"vector"}, Now: func() time.Time { return now }, Turn: func(source string) (bool, time.Time) {
			return source == "docs", now.Add(time.Hour)
		}, Settings: []form.Setting{{Key: "server.listen", Value: "<x>", Origin: "flag", Variable: "ALMANAC_LISTEN"}}})
	page := get(h, "/operations").Body.String()
	holds(t, page, "Nothing is under way", "&lt;b&gt;no route", "2 items", ">failed<", ">stale<", ">running<",
		"a.md and 1 more: it has no number", ">empty<", ">not read yet<", "no records; &lt;p&gt;.pdf: gone", "and 1 of others", "keyword",
		"Nothing was searched for", "Build the index again", "Nothing was published: what is configured", ">https://buoys.example<")
	if part := get(h, "/operations?live=1").Body.String(); strings.Contains(part, "<html") ||
		!strings.Contains(part, "no route") {
		t.Errorf("what changes by itself: %s", part)
	}
	holds(t, get(h, "/operations/settings").Body.String(), "server.listen", "&lt;x&gt;", "ALMANAC_LISTEN")

	// A job is asked for once, however often the button is pressed.
	for range 2 {
		moves(t, post(h, "/operations/sync", url.Values{"source": {"docs"}}), "/operations")
		moves(t, post(h, "/operations/reindex", nil), "/operations")
	}
	moves(t, post(h, "/operations/sync", nil), "/operations") // of all
	if w := post(h, "/operations/sync", url.Values{"source": {"nowhere"}}); w.Code != http.StatusNotFound {
		t.Errorf("an unknown source is %d", w.Code)
	}
	open, err := store.Requests(t.Context())
	if err != nil || len(open) != 3 {
		t.Fatalf("open jobs: %+v, %v", open, err)
	}
	holds(t, get(h, "/operations").Body.String(), "Being built again", "Asked for", "Cancel job 1, sync")
	moves(t, post(h, "/operations/jobs/1/cancel", nil), "/operations")
	for _, wrong := range []string{"/operations/jobs/x/cancel", "/operations/jobs/99/cancel"} {
		if w := post(h, wrong, nil); w.Code < 400 || w.Code >= 500 {
			t.Errorf("%s is %d", wrong, w.Code)
		}
	}
	if job, err := store.Job(t.Context(), 1); err != nil || !job.Cancelled {
		t.Errorf("the job is %+v, %v", job, err)
	}
}
