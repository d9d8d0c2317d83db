package dashboard

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"almanac/api/admin"
	"almanac/api/look"
	"almanac/catalog"
	"almanac/retrieval/workbench"
)

// analytics are the pages about what people search for, and of the rules that are
// made from it.
func (h *Handler) analytics() map[string]answer {
	return map[string]answer{
		"GET /analytics":                  h.searches,
		"POST /analytics/sample":          h.sample,
		"GET /analytics/pins":             h.pins,
		"GET /analytics/pins/edit":        h.editPin,
		"POST /analytics/pins":            h.putPin,
		"GET /analytics/synonyms":         h.synonyms,
		"POST /analytics/synonyms":        h.putSynonyms,
		"GET /analytics/audit":            h.audit,
		"POST /analytics/audit/{id}/undo": h.undo,
	}
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
func (h *Handler) searches(r *http.Request) (reply, error) {
	days := min(max(1, number(r, "days", 30)), catalog.CountDays)
	order := catalog.SearchOrder(r.FormValue("order"))
	since := h.cfg.Now().AddDate(0, 0, 1-days)
	list, total, err := h.cfg.Store.Searches(r.Context(),
		catalog.SearchQuery{Since: since, Order: order, Limit: shownQueries})
	if err != nil {
		return reply{}, invalid("order must be zero, corrected, degraded or slow")
	}
	var clicks []catalog.ClickCount
	if len(list) > 0 {
		queries := make([]string, len(list))
		for i, c := range list {
			queries[i] = c.Query
		}
		if clicks, err = h.cfg.Store.Clicks(r.Context(), since, queries...); err != nil {
			return reply{}, err
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
	return reply{Template: "analytics", Page: look.Page{Title: "Analytics", Path: "/analytics"}, Data: map[string]any{
		"Days": days, "Order": order, "Orders": searchOrders, "Rows": rows, "Total": total, "Clicks": len(clicks) > 0,
	}}, nil
}

// number reads an integer of a form.
func number(r *http.Request, name string, otherwise int) int {
	if n, err := strconv.Atoi(r.FormValue(name)); err == nil {
		return n
	}
	return otherwise
}

// sample makes a case of queries that were searched for.
func (h *Handler) sample(r *http.Request) (reply, error) {
	name, n := strings.TrimSpace(r.FormValue("name")), number(r, "n", 50)
	if name == "" {
		return reply{}, invalid("a case needs a name").in("name")
	}
	if n < 1 || n > 500 {
		return reply{}, invalid("a case is made of 1 to 500 queries").in("n")
	}
	days := min(max(1, number(r, "days", 30)), catalog.CountDays)
	counts, _, err := h.cfg.Store.Searches(r.Context(), catalog.SearchQuery{Since: h.cfg.Now().AddDate(0, 0, 1-days)})
	if err != nil {
		return reply{}, err
	}
	if len(counts) == 0 {
		return reply{}, invalid("nothing was searched for in these days")
	}
	how, seed := r.FormValue("how"), uint64(max(0, number(r, "seed", 1)))
	chosen, err := workbench.Sample(counts, how, n, seed)
	if err != nil {
		return reply{}, invalid("how must be top, random or proportional")
	}
	made, err := h.newCase(r, name, fmt.Sprintf("%d of %d queries searched for in %d days, %s (seed %d)", len(chosen),
		len(counts), days, how, seed))
	if err != nil {
		return reply{}, err
	}
	queries := make([]catalog.CaseQuery, len(chosen))
	for i, c := range chosen {
		queries[i] = catalog.CaseQuery{ID: fmt.Sprintf("q%d", i+1), Text: c.Query,
			Note: fmt.Sprintf("searched for %d times", c.N)}
	}
	if err := h.cfg.Store.PutQueries(r.Context(), made.ID, queries, admin.User(r.Context())); err != nil {
		return reply{}, err
	}
	return reply{Goto: caseLink(made.ID)}, nil
}

// auditPage is how many changes the page lists.
const auditPage = 200

// change is an entry of the audit log.
type change struct {
	catalog.Audit
	Undo string // what undoing does; "" if it cannot be undone
}

// audit lists who changed what.
func (h *Handler) audit(r *http.Request) (reply, error) {
	list, err := h.cfg.Store.Audit(r.Context(), auditPage)
	if err != nil {
		return reply{}, err
	}
	changes := make([]change, len(list))
	for i, a := range list {
		changes[i] = change{a, undoing(a)}
		if !strings.Contains(a.Before, "/") || len(a.Before) > 80 {
			changes[i].Before = ""
		}
	}
	return reply{Template: "audit", Page: look.Page{Title: "Changes", Path: "/analytics/audit", Section: "/analytics"},
		Data: changes}, nil
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
func (h *Handler) undo(r *http.Request) (reply, error) {
	list, err := h.cfg.Store.Audit(r.Context(), 0)
	if err != nil {
		return reply{}, err
	}
	for _, a := range list {
		if strconv.FormatInt(a.ID, 10) != r.PathValue("id") {
			continue
		}
		back := reply{Goto: "/analytics/audit"}
		switch {
		case undoing(a) == "":
			return reply{}, invalid("this change cannot be undone")
		case a.Action == "publish":
			name, number, _ := strings.Cut(a.Before, "/")
			n, _ := strconv.Atoi(number)
			_, err := h.cfg.Store.Publish(r.Context(), catalog.Publication{Kind: catalog.RevisionKind(a.Subject), Name: name,
				Number: n, By: admin.User(r.Context()), Note: fmt.Sprintf("undoes change %d", a.ID)}, 0)
			return back, err
		}
		return back, h.restore(r, a)
	}
	return reply{}, fmt.Errorf("change %s: %w", r.PathValue("id"), catalog.ErrNotFound)
}

// link is an address with one parameter.
func link(path, name, value string) string { return path + "?" + url.Values{name: {value}}.Encode() }
