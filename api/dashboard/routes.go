package dashboard

import (
	"fmt"
	"html/template"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"time"

	"almanac/retrieval/workbench"
)

// routes are the addresses by their patterns. Each section has a file of its
// own with a function that returns its part.
func (h *Handler) routes() map[string]answer {
	all := map[string]answer{
		"GET /": func(*http.Request) (reply, error) { return reply{Goto: "/lab"}, nil },
	}
	for _, section := range []map[string]answer{
		h.lab(), h.judging(), h.evaluation(), h.tuning(), h.analytics(), h.operations(),
	} {
		maps.Copy(all, section)
	}
	for pattern, page := range h.formPages() {
		all[pattern] = h.form(all[pattern], page)
	}
	return all
}

// formPages are the pages that have the forms which are sent to an address. The
// lab and the editor of profiles answer with their own page.
func (h *Handler) formPages() map[string]answer {
	return map[string]answer{
		"POST /judging":                     h.cases,
		"POST /judging/pool":                h.openPool,
		"POST /judging/import":              h.importPage,
		"POST /judging/{id}":                h.ofCase(h.showCase),
		"POST /judging/{id}/query":          h.ofCase(h.editQuery),
		"POST /judging/{id}/judge":          h.ofCase(h.judge),
		"POST /judging/{id}/model":          h.ofCase(h.showCase),
		"POST /judging/{id}/clicks":         h.ofCase(h.showCase),
		"POST /evaluation":                  h.newRun,
		"POST /evaluation/schedule":         h.runs,
		"POST /tuning/publish":              h.publishPage,
		"POST /tuning/fit":                  h.fits,
		"POST /tuning/shadow":               h.shadow,
		"POST /analytics/sample":            h.searches,
		"POST /analytics/pins":              h.editPin,
		"POST /analytics/synonyms":          h.synonyms,
		"POST /analytics/audit/{id}/undo":   h.audit,
		"POST /operations/sync":             h.overview,
		"POST /operations/reindex":          h.overview,
		"POST /operations/jobs/{id}/cancel": h.overview,
	}
}

// funcs are what the templates may call besides those of package look.
func (h *Handler) funcs() template.FuncMap {
	return template.FuncMap{"took": took, "isoday": isoDay, "edition": edition, "change": changeOf, "span": span,
		"figure": figure, "signed": signed, "chance": chance, "kappa": kappa,
		"machine": func(judge string) bool { return !workbench.ByPeople(judge) }}
}

// figure writes a measure.
func figure(x float64) string { return strconv.FormatFloat(x, 'f', 3, 64) }

// chance writes how likely something is by chance alone.
func chance(p float64) string {
	if p < 0.001 {
		return "< 0.001"
	}
	return figure(p)
}

// signed writes a difference of measures with its sign.
func signed(x float64) string { return strings.Replace(fmt.Sprintf("%+.3f", x), "-", "−", 1) }

// took writes a duration in milliseconds.
func took(d time.Duration) string {
	if d == 0 {
		return ""
	}
	return strconv.FormatFloat(float64(d.Microseconds())/1000, 'f', 1, 64) + " ms"
}

// span writes a time in seconds, minutes or hours.
func span(d time.Duration) string {
	switch {
	case d < 10*time.Second:
		return d.Round(100 * time.Millisecond).String()
	case d < time.Minute:
		return d.Round(time.Second).String()
	}
	return strings.TrimSuffix(strings.TrimSuffix(d.Round(time.Minute).String(), "0s"), "0m")
}

// isoDay writes a day as forms have it, "" for none.
func isoDay(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Format(time.DateOnly)
}

// edition writes a revision of the audit log, NAME/NUMBER, as people name it.
func edition(s string) string {
	name, number, ok := strings.Cut(s, "/")
	switch {
	case !ok:
		return s
	case number == "0":
		return "the configuration"
	}
	return strings.TrimSpace(name + " r" + number)
}

// shift is how a result moved.
type shift struct{ Class, Text string }

// changeOf compares the place of a result, from 0, with the one it had, from 1; 0:
// it had none. nil: it did not move.
func changeOf(at, from int) *shift {
	switch up := from - (at + 1); {
	case from == 0:
		return &shift{"new", "new"}
	case up > 0:
		return &shift{"up", fmt.Sprintf("↑ %d", up)}
	case up < 0:
		return &shift{"down", fmt.Sprintf("↓ %d", -up)}
	}
	return nil
}
