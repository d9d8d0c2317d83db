// Package searches is the section of the dashboard about what people search for.
package searches

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"almanac/api/admin"
	"almanac/api/dashboard/desk"
	"almanac/catalog"
	"almanac/retrieval/workbench"
)

// handler answers.
type handler struct{ *desk.Desk }

// New returns the section.
func New(d *desk.Desk) desk.Section {
	h := handler{d}
	return desk.Section{Title: "Searches", Path: "/searches", Routes: map[string]desk.Route{
		"GET /searches":         desk.Page(h.searches),
		"POST /searches/sample": desk.Form(h.sample, h.searches),
	}}
}

// shownQueries is how many queries the page lists.
const shownQueries = 100

// searchOrders are the tabs of the page.
var searchOrders = []struct {
	Order       catalog.SearchOrder
	Name, Empty string
}{
	{catalog.MostSearched, "Popular", "Nothing was searched for in these days."},
	{catalog.MostZero, "Without results", "Every search of these days found something."},
	{catalog.MostCorrected, "Corrected", "No search of these days was read as something else."},
	{catalog.MostDegraded, "Degraded", "Every engine took part in every search of these days."},
	{catalog.Slowest, "Slow", "Nothing was searched for in these days."},
}

// searched is a query with what became of it.
type searched struct {
	catalog.SearchCount
	Mean     time.Duration
	Shown    int     // times its results were seen
	Clicked  int     // times one of them was opened
	Position float64 // mean place of what was opened
}

// searches lists queries.
func (h handler) searches(r *http.Request) (desk.Reply, error) {
	days := min(max(1, desk.Number(r, "days", 30)), catalog.CountDays)
	order := catalog.SearchOrder(r.FormValue("order"))
	since := h.Now().AddDate(0, 0, 1-days)
	list, total, err := h.Store.Searches(r.Context(),
		catalog.SearchQuery{Since: since, Order: order, Limit: shownQueries})
	if err != nil {
		return desk.Reply{}, desk.Invalid("order must be zero, corrected, degraded or slow")
	}
	var clicks []catalog.ClickCount
	if len(list) > 0 {
		queries := make([]string, len(list))
		for i, c := range list {
			queries[i] = c.Query
		}
		if clicks, err = h.Store.Clicks(r.Context(), since, queries...); err != nil {
			return desk.Reply{}, err
		}
	}
	type opened struct{ shown, clicked, places int }
	of := map[string]opened{}
	for _, c := range clicks {
		o := of[c.Query]
		if c.Position == 1 { // a page is seen as often as its first result
			o.shown += c.Shown
		}
		o.clicked, o.places = o.clicked+c.Clicked, o.places+c.Clicked*c.Position
		of[c.Query] = o
	}
	rows := make([]searched, len(list))
	for i, c := range list {
		o := of[c.Query]
		rows[i] = searched{c, c.Took / time.Duration(max(1, c.N)), o.shown, o.clicked,
			float64(o.places) / float64(max(1, o.clicked))}
	}
	return desk.Reply{Template: "searches", Title: "Searches", Data: map[string]any{
		"Days": days, "Order": order, "Orders": searchOrders, "Rows": rows, "Total": total, "Clicks": len(clicks) > 0,
	}}, nil
}

// sample makes a case of queries that were searched for.
func (h handler) sample(r *http.Request) (desk.Reply, error) {
	name, n := strings.TrimSpace(r.FormValue("name")), desk.Number(r, "n", 50)
	if name == "" {
		return desk.Reply{}, desk.Invalid("a case needs a name").In("name")
	}
	if n < 1 || n > 500 {
		return desk.Reply{}, desk.Invalid("a case is made of 1 to 500 queries").In("n")
	}
	days := min(max(1, desk.Number(r, "days", 30)), catalog.CountDays)
	counts, _, err := h.Store.Searches(r.Context(), catalog.SearchQuery{Since: h.Now().AddDate(0, 0, 1-days)})
	if err != nil {
		return desk.Reply{}, err
	}
	if len(counts) == 0 {
		return desk.Reply{}, desk.Invalid("nothing was searched for in these days")
	}
	how, seed := r.FormValue("how"), uint64(max(0, desk.Number(r, "seed", 1)))
	chosen, err := workbench.Sample(counts, how, n, seed)
	if err != nil {
		return desk.Reply{}, desk.Invalid("how must be top, random or proportional")
	}
	made, err := h.NewCase(r, name, fmt.Sprintf("%d of %d queries searched for in %d days, %s (seed %d)", len(chosen),
		len(counts), days, how, seed))
	if err != nil {
		return desk.Reply{}, err
	}
	queries := make([]catalog.CaseQuery, len(chosen))
	for i, c := range chosen {
		queries[i] = catalog.CaseQuery{ID: fmt.Sprintf("q%d", i+1), Text: c.Query,
			Note: fmt.Sprintf("searched for %d times", c.N)}
	}
	if err := h.Store.PutQueries(r.Context(), made.ID, queries, admin.User(r.Context())); err != nil {
		return desk.Reply{}, err
	}
	return desk.Reply{Goto: desk.CasePath(made.ID)}, nil
}
