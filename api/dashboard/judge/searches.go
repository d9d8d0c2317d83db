package judge

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"almanac/api/admin"
	"almanac/api/dashboard/form"
	"almanac/api/look"
	"almanac/catalog"
	"almanac/retrieval/workbench"
)

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

// searched is a query with what became of it, and of those that have the same words.
type searched struct {
	catalog.SearchCount
	Alike    []string // the others: with quotes, operators, capitals
	Mean     time.Duration
	Shown    int // times its results were seen
	Clicked  int // times one of them was opened
	places   int // of what was opened, together
	Position float64
}

// chosen are the days and the order that a request asks for.
func (h handler) chosen(r *http.Request) (days int, since time.Time, order catalog.SearchOrder) {
	days = min(max(1, form.Number(r, "days", 30)), catalog.CountDays)
	return days, h.Now().AddDate(0, 0, 1-days), catalog.SearchOrder(r.FormValue("order"))
}

// grouped lists queries, those of the same words as one, and how many there are.
func (h handler) grouped(r *http.Request, limit int) (rows []searched, total int, clicked bool, err error) {
	_, since, order := h.chosen(r)
	list, total, err := h.Store.Searches(r.Context(), catalog.SearchQuery{Since: since, Order: order, Limit: limit})
	if err != nil {
		return nil, 0, false, form.Invalid("order must be zero, corrected, degraded or slow")
	}
	queries, at, of := make([]string, len(list)), map[string]int{}, map[string]int{} // rows by words, and by queries
	for i, c := range list {
		queries[i] = c.Query
		words := form.Words(c.Query)
		n, known := at[words]
		if !known || strings.TrimSpace(words) == "" {
			n, rows = len(rows), append(rows, searched{SearchCount: c})
			at[words] = n
		} else {
			x := &rows[n]
			x.Alike = append(x.Alike, c.Query)
			x.N, x.Zero, x.Corrected, x.Degraded = x.N+c.N, x.Zero+c.Zero, x.Corrected+c.Corrected, x.Degraded+c.Degraded
			x.Took, x.Longest = x.Took+c.Took, max(x.Longest, c.Longest)
		}
		of[c.Query] = n
	}
	var clicks []catalog.ClickCount
	if len(list) > 0 {
		if clicks, err = h.Store.Clicks(r.Context(), since, queries...); err != nil {
			return nil, 0, false, err
		}
	}
	for _, c := range clicks {
		x := &rows[of[c.Query]]
		if c.Position == 1 { // a page is seen as often as its first result
			x.Shown += c.Shown
		}
		x.Clicked, x.places = x.Clicked+c.Clicked, x.places+c.Clicked*c.Position
	}
	for i := range rows {
		x := &rows[i]
		x.Mean, x.Position = x.Took/time.Duration(max(1, x.N)), float64(x.places)/float64(max(1, x.Clicked))
	}
	return rows, total, len(clicks) > 0, nil
}

// week is how much was searched for in seven days.
type week struct{ N, Zero int }

// Rate is the share of searches that found nothing.
func (w week) Rate() float64 { return float64(w.Zero) / float64(max(1, w.N)) }

// searches lists queries, and shows how much is searched for.
func (h handler) searches(r *http.Request) (form.Reply, error) {
	rows, total, clicked, err := h.grouped(r, shownQueries)
	if err != nil {
		return form.Reply{}, err
	}
	days, since, order := h.chosen(r)
	today := catalog.Day(h.Now())
	counts, err := h.Store.SearchDays(r.Context(), today.AddDate(0, 0, 1-max(days, 14)))
	if err != nil {
		return form.Reply{}, err
	}
	var this, before week
	n, rate := map[time.Time]float64{}, map[time.Time]float64{}
	for _, c := range counts {
		n[c.Day], rate[c.Day] = float64(c.N), float64(c.Zero)/float64(max(1, c.N))
		w := &this
		switch age := int(today.Sub(c.Day).Hours() / 24); {
		case age >= 14:
			continue
		case age >= 7:
			w = &before
		}
		w.N, w.Zero = w.N+c.N, w.Zero+c.Zero
	}
	var curve, zero []look.Point // of every day, those without a search too
	for day := catalog.Day(since); !day.After(today); day = day.AddDate(0, 0, 1) {
		curve, zero = append(curve, look.Point{At: day, Value: n[day]}), append(zero, look.Point{At: day, Value: rate[day]})
	}
	return form.Reply{Template: "searches", Title: "Searches", Data: map[string]any{
		"Days": days, "Order": order, "Orders": searchOrders, "Rows": rows, "Total": total, "Clicks": clicked,
		"Week": this, "Before": before, "Curve": look.Chart{Name: "Searches a day", Points: curve},
		"Zero": look.Chart{Name: "Share that found nothing", Format: "percent", Points: zero},
	}}, nil
}

// export returns the queries as CSV.
func (h handler) export(r *http.Request) (form.Reply, error) {
	rows, _, _, err := h.grouped(r, 0)
	if err != nil {
		return form.Reply{}, err
	}
	var body bytes.Buffer
	w := csv.NewWriter(&body)
	lines := [][]string{{"query", "searches", "without results", "corrected", "degraded", "mean ms", "longest ms", "seen",
		"opened", "mean place", "alike"}}
	ms := func(d time.Duration) string { return fmt.Sprintf("%.1f", float64(d.Microseconds())/1000) }
	for _, x := range rows {
		lines = append(lines, []string{text(x.Query), strconv.Itoa(x.N), strconv.Itoa(x.Zero), strconv.Itoa(x.Corrected),
			strconv.Itoa(x.Degraded), ms(x.Mean), ms(x.Longest), strconv.Itoa(x.Shown), strconv.Itoa(x.Clicked),
			fmt.Sprintf("%.1f", x.Position), text(strings.Join(x.Alike, " | "))})
	}
	err = w.WriteAll(lines)
	return form.Reply{Raw: &form.Raw{Name: "searches.csv", Type: "text/csv; charset=utf-8", Body: body.Bytes()}}, err
}

// text keeps what a stranger searched for from being a formula in a spreadsheet.
func text(s string) string {
	if strings.HasPrefix(s, "=") || strings.HasPrefix(s, "+") || strings.HasPrefix(s, "-") || strings.HasPrefix(s, "@") {
		return "'" + s
	}
	return s
}

// sample makes a case of queries that were searched for.
func (h handler) sample(r *http.Request) (form.Reply, error) {
	name, n := strings.TrimSpace(r.FormValue("name")), form.Number(r, "n", 50)
	if name == "" {
		return form.Reply{}, form.Invalid("a case needs a name").In("name")
	}
	if n < 1 || n > 500 {
		return form.Reply{}, form.Invalid("a case is made of 1 to 500 queries").In("n")
	}
	days := min(max(1, form.Number(r, "days", 30)), catalog.CountDays)
	counts, _, err := h.Store.Searches(r.Context(), catalog.SearchQuery{Since: h.Now().AddDate(0, 0, 1-days)})
	if err != nil {
		return form.Reply{}, err
	}
	if len(counts) == 0 {
		return form.Reply{}, form.Invalid("nothing was searched for in these days")
	}
	how, seed := r.FormValue("how"), uint64(max(0, form.Number(r, "seed", 1)))
	chosen, err := workbench.Sample(counts, how, n, seed)
	if err != nil {
		return form.Reply{}, form.Invalid("how must be top, random or proportional")
	}
	made, err := h.NewCase(r, name, fmt.Sprintf("%d of %d queries searched for in %d days, %s (seed %d)", len(chosen),
		len(counts), days, how, seed))
	if err != nil {
		return form.Reply{}, err
	}
	queries := make([]catalog.CaseQuery, len(chosen))
	for i, c := range chosen {
		queries[i] = catalog.CaseQuery{ID: fmt.Sprintf("q%d", i+1), Text: c.Query,
			Note: fmt.Sprintf("searched for %d times", c.N)}
	}
	if err := h.Store.PutQueries(r.Context(), made.ID, queries, admin.User(r.Context())); err != nil {
		return form.Reply{}, err
	}
	return form.Reply{Goto: form.CasePath(made.ID)}, nil
}
