// Package analytics is the section of the dashboard about what people search for,
// and of the rules that are made from it.
package analytics

import (
	"cmp"
	"embed"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"almanac/api/admin"
	"almanac/api/dashboard/desk"
	"almanac/catalog"
	"almanac/retrieval/workbench"
)

//go:embed pages
var pages embed.FS

// handler answers.
type handler struct{ *desk.Desk }

// New returns the section.
func New(d *desk.Desk) desk.Section {
	h := handler{d}
	return desk.Section{Title: "Analytics", Path: "/analytics", Pages: pages, Routes: map[string]desk.Route{
		"GET /analytics":                  desk.Page(h.searches),
		"POST /analytics/sample":          desk.Form(h.sample, h.searches),
		"GET /analytics/pins":             desk.Page(h.pins),
		"GET /analytics/pins/edit":        desk.Page(h.editPin),
		"POST /analytics/pins":            desk.Form(h.putPin, h.editPin),
		"GET /analytics/synonyms":         desk.Page(h.synonyms),
		"POST /analytics/synonyms":        desk.Form(h.putSynonyms, h.synonyms),
		"GET /analytics/audit":            desk.Page(h.audit),
		"POST /analytics/audit/{id}/undo": desk.Form(h.undo, h.audit),
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
	return desk.Reply{Template: "analytics", Title: "Analytics", Path: "/analytics", Data: map[string]any{
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

// auditPage is how many changes the page lists.
const auditPage = 200

// change is an entry of the audit log.
type change struct {
	catalog.Audit
	Undo string // what undoing does; "" if it cannot be undone
}

// audit lists who changed what.
func (h handler) audit(r *http.Request) (desk.Reply, error) {
	list, err := h.Store.Audit(r.Context(), auditPage)
	if err != nil {
		return desk.Reply{}, err
	}
	changes := make([]change, len(list))
	for i, a := range list {
		changes[i] = change{a, undoing(a)}
		if !strings.Contains(a.Before, "/") || len(a.Before) > 80 {
			changes[i].Before = ""
		}
	}
	return desk.Reply{Template: "audit", Title: "Changes", Path: "/analytics/audit", Data: changes}, nil
}

// undoing says what undoing a change does; "" if it cannot be undone.
func undoing(a catalog.Audit) string {
	switch {
	case a.Action == "publish":
		if name, number, _ := strings.Cut(a.Before, "/"); number != "0" {
			return "publish " + cmp.Or(name, a.Subject) + " r" + number
		}
		return "return to the configuration"
	case strings.HasPrefix(a.Subject, "case ") && strings.HasPrefix(a.Before, "{") && a.Before != "{}":
		return "put the queries back as they were"
	}
	return ""
}

// undo takes a change back, by making the opposite one.
func (h handler) undo(r *http.Request) (desk.Reply, error) {
	list, err := h.Store.Audit(r.Context(), 0)
	if err != nil {
		return desk.Reply{}, err
	}
	for _, a := range list {
		if strconv.FormatInt(a.ID, 10) != r.PathValue("id") {
			continue
		}
		back := desk.Reply{Goto: "/analytics/audit"}
		switch {
		case undoing(a) == "":
			return desk.Reply{}, desk.Invalid("this change cannot be undone")
		case a.Action == "publish":
			name, number, _ := strings.Cut(a.Before, "/")
			n, _ := strconv.Atoi(number)
			_, err := h.Store.Publish(r.Context(), catalog.Publication{Kind: catalog.RevisionKind(a.Subject), Name: name,
				Number: n, By: admin.User(r.Context()), Note: fmt.Sprintf("undoes change %d", a.ID)}, 0)
			return back, err
		}
		return back, workbench.Restore(r.Context(), h.Store, a, admin.User(r.Context()))
	}
	return desk.Reply{}, fmt.Errorf("change %s: %w", r.PathValue("id"), catalog.ErrNotFound)
}
