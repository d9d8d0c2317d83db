package manage

import (
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

// fits lists tuning jobs, and has the form of another.
func (h handler) fits(r *http.Request) (form.Reply, error) {
	cases, names, err := h.Cases(r.Context())
	if err != nil {
		return form.Reply{}, err
	}
	list, err := workbench.JobsOf[workbench.TuneTask, workbench.Fit](r.Context(), h.Store, 0)
	if err != nil {
		return form.Reply{}, err
	}
	list = list[:min(shownFits, len(list))]
	running := slices.ContainsFunc(list, func(j workbench.Job[workbench.TuneTask, workbench.Fit]) bool {
		return j.DoneAt.IsZero()
	})
	judges, err := workbench.Judges(r.Context(), h.Store, cases)
	if err != nil {
		return form.Reply{}, err
	}
	choices, err := h.Names(r.Context())
	return form.Reply{Template: "fit", Title: "Fit a profile",
		Data: map[string]any{"Jobs": list, "Running": running, "Cases": cases,
			"Names": names, "Judges": judges, "Choices": choices, "Default": workbench.Defaults(),
			"Case": int64(form.Number(r, "case", 0))}}, err
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

// fit shows what a tuning learned.
func (h handler) fit(r *http.Request) (form.Reply, error) {
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err != nil {
		return form.Reply{}, fmt.Errorf("job %s: %w", r.PathValue("id"), catalog.ErrNotFound)
	}
	asked, err := h.Store.Job(r.Context(), id)
	if err != nil {
		return form.Reply{}, err
	}
	job, err := workbench.JobOf[workbench.TuneTask, workbench.Fit](asked)
	if err != nil {
		return form.Reply{}, fmt.Errorf("tuning job %d: %w", id, catalog.ErrNotFound)
	}
	_, names, err := h.Cases(r.Context())
	if err != nil {
		return form.Reply{}, err
	}
	largest := 0.0
	for _, w := range job.Found.Weights {
		largest = max(largest, math.Abs(w.Before), math.Abs(w.After))
	}
	page := form.Reply{Template: "fit-result", Title: fmt.Sprintf("Fit %d", id),
		Data: map[string]any{"Job": job, "Name": names[job.Task.Case], "Largest": largest}}
	if job.DoneAt.IsZero() {
		page.Refresh = 2
	}
	return page, nil
}
