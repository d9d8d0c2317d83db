package manage

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"almanac/api/admin"
	"almanac/api/dashboard/form"
	"almanac/catalog"
	"almanac/retrieval/workbench"
)

// shownFits is how many jobs the page lists.
const shownFits = 30

// fitted is a tuning job with what it found.
type fitted struct {
	catalog.Request
	workbench.Fit
	CaseName string
}

// fits lists tuning jobs, and has the form of another.
func (h handler) fits(r *http.Request) (form.Reply, error) {
	cases, err := h.Store.Cases(r.Context())
	if err != nil {
		return form.Reply{}, err
	}
	jobs, err := h.Store.Jobs(r.Context(), 0)
	if err != nil {
		return form.Reply{}, err
	}
	var list []fitted
	running := false
	for _, job := range jobs {
		if job.Kind == (workbench.TuneTask{}).Kind() && len(list) < shownFits {
			list = append(list, fittedOf(job, cases))
			running = running || job.DoneAt.IsZero()
		}
	}
	judges, err := workbench.Judges(r.Context(), h.Store, cases)
	if err != nil {
		return form.Reply{}, err
	}
	choices, err := h.Names(r.Context())
	return form.Reply{Template: "fit", Title: "Fit a profile",
		Data: map[string]any{"Jobs": list, "Running": running, "Cases": cases, "Judges": judges, "Choices": choices,
			"Default": workbench.Defaults(), "Case": int64(form.Number(r, "case", 0))}}, err
}

// fittedOf reads what was asked for and found.
func fittedOf(job catalog.Request, cases []catalog.Case) fitted {
	f := fitted{Request: job}
	text := job.Argument
	if job.Result != "" {
		text = job.Result
	}
	_ = json.Unmarshal([]byte(text), &f.Fit) // what cannot be read is shown as empty
	if at := slices.IndexFunc(cases, func(c catalog.Case) bool { return c.ID == f.Case }); at >= 0 {
		f.CaseName = cases[at].Name
	}
	return f
}

// startFit asks for a tuning.
func (h handler) startFit(r *http.Request) (form.Reply, error) {
	if err := r.ParseForm(); err != nil {
		return form.Reply{}, form.Invalid("the form could not be read")
	}
	a := workbench.TuneTask{Case: int64(form.Number(r, "case", 0)), Judges: r.Form["judge"],
		Profile: r.FormValue("profile"), Name: strings.TrimSpace(r.FormValue("name")), Folds: form.Number(r, "folds", 0),
		Seed: uint64(max(0, form.Number(r, "seed", 1)))}
	for field := range strings.FieldsFuncSeq(r.FormValue("l2"), func(c rune) bool { return c == ',' || c == ' ' }) {
		penalty, err := strconv.ParseFloat(field, 64)
		if err != nil {
			return form.Reply{}, form.Invalid(fmt.Sprintf("%q is no penalty: it must be a number such as 0.03", field)).In("l2")
		}
		a.L2 = append(a.L2, penalty)
	}
	if err := a.Check(); err != nil {
		return form.Reply{}, form.Invalid(err.Error())
	}
	if _, err := h.Named(r.Context(), a.Profile); err != nil {
		return form.Reply{}, err
	}
	c, collection, err := workbench.Collection(r.Context(), h.Store, a.Case, a.Judges)
	if errors.Is(err, workbench.ErrUnjudged) {
		return form.Reply{}, form.Invalid(err.Error())
	}
	if err != nil {
		return form.Reply{}, err
	}
	if n := len(collection.Queries); n < 2*a.Folds {
		return form.Reply{}, form.Invalid(fmt.Sprintf("%d judged queries are too few for %d folds", n, a.Folds)).In("folds")
	}
	by := admin.User(r.Context())
	id, err := workbench.Ask(r.Context(), h.Store, a, by)
	if err != nil {
		return form.Reply{}, err
	}
	err = h.Store.AddAudit(r.Context(), catalog.Audit{By: by, Action: "job", Subject: "profile " + a.Name,
		Note: fmt.Sprintf("fit %s to %d queries of %s", a.Profile, len(collection.Queries), c.Name)})
	return form.Reply{Goto: fmt.Sprintf("/profiles/fit/%d", id)}, err
}

// fittedWeight is a weight with the widths of its bars, in hundredths of the
// largest.
type fittedWeight struct {
	workbench.FitWeight
	WidthBefore, WidthAfter int
}

// fit shows what a tuning learned.
func (h handler) fit(r *http.Request) (form.Reply, error) {
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err != nil {
		return form.Reply{}, fmt.Errorf("job %s: %w", r.PathValue("id"), catalog.ErrNotFound)
	}
	job, err := h.Store.Job(r.Context(), id)
	if err == nil && job.Kind != (workbench.TuneTask{}).Kind() {
		err = fmt.Errorf("tuning job %d: %w", id, catalog.ErrNotFound)
	}
	if err != nil {
		return form.Reply{}, err
	}
	cases, err := h.Store.Cases(r.Context())
	if err != nil {
		return form.Reply{}, err
	}
	f := fittedOf(job, cases)
	largest := 0.0
	for _, w := range f.Weights {
		largest = max(largest, math.Abs(w.Before), math.Abs(w.After))
	}
	width := func(w float64) int { return int(100*math.Abs(w)/max(largest, 1e-9) + .5) }
	weights := make([]fittedWeight, len(f.Weights))
	for i, w := range f.Weights {
		weights[i] = fittedWeight{w, width(w.Before), width(w.After)}
	}
	page := form.Reply{Template: "fit-result", Title: fmt.Sprintf("Fit %d", id),
		Data: map[string]any{"Job": f, "Weights": weights}}
	if job.DoneAt.IsZero() {
		page.Refresh = 2
	}
	return page, nil
}
