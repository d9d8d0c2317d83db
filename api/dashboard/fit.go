package dashboard

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"almanac/api/admin"
	"almanac/api/look"
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
func (h *Handler) fits(r *http.Request) (reply, error) {
	cases, err := h.cfg.Store.Cases(r.Context())
	if err != nil {
		return reply{}, err
	}
	jobs, err := h.cfg.Store.Jobs(r.Context(), 0)
	if err != nil {
		return reply{}, err
	}
	var list []fitted
	running := false
	for _, job := range jobs {
		if job.Kind == (workbench.TuneTask{}).Kind() && len(list) < shownFits {
			list = append(list, fittedOf(job, cases))
			running = running || job.DoneAt.IsZero()
		}
	}
	judges, err := h.judges(r.Context(), cases)
	if err != nil {
		return reply{}, err
	}
	choices, err := h.profileNames(r.Context())
	return reply{Template: "fit", Page: look.Page{Title: "Fit a profile", Path: "/tuning/fit", Section: "/tuning"},
		Data: map[string]any{"Jobs": list, "Running": running, "Cases": cases, "Judges": judges, "Choices": choices,
			"Default": workbench.Defaults(), "Case": int64(number(r, "case", 0))}}, err
}

// judges counts the judgments of each judge in all cases.
func (h *Handler) judges(ctx context.Context, cases []catalog.Case) (map[string]int, error) {
	judges := map[string]int{}
	for _, c := range cases {
		judgments, err := h.cfg.Store.Judgments(ctx, c.ID)
		if err != nil {
			return nil, err
		}
		for _, j := range judgments {
			judges[j.Judge]++
		}
	}
	return judges, nil
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
func (h *Handler) startFit(r *http.Request) (reply, error) {
	if err := r.ParseForm(); err != nil {
		return reply{}, invalid("the form could not be read")
	}
	a := workbench.TuneTask{Case: int64(number(r, "case", 0)), Judges: r.Form["judge"],
		Profile: r.FormValue("profile"), Name: strings.TrimSpace(r.FormValue("name")), Folds: number(r, "folds", 0),
		Seed: uint64(max(0, number(r, "seed", 1))), Classed: r.FormValue("classed") != ""}
	for field := range strings.FieldsFuncSeq(r.FormValue("l2"), func(c rune) bool { return c == ',' || c == ' ' }) {
		penalty, err := strconv.ParseFloat(field, 64)
		if err != nil {
			return reply{}, invalid(fmt.Sprintf("%q is no penalty: it must be a number such as 0.03", field)).in("l2")
		}
		a.L2 = append(a.L2, penalty)
	}
	if err := a.Check(); err != nil {
		return reply{}, invalid(err.Error())
	}
	if _, err := h.cfg.Revisions.Named(r.Context(), a.Profile); err != nil {
		return reply{}, err
	}
	c, collection, err := workbench.Collection(r.Context(), h.cfg.Store, a.Case, a.Judges)
	if errors.Is(err, workbench.ErrUnjudged) {
		return reply{}, invalid(err.Error())
	}
	if err != nil {
		return reply{}, err
	}
	if n := len(collection.Queries); n < 2*a.Folds {
		return reply{}, invalid(fmt.Sprintf("%d judged queries are too few for %d folds", n, a.Folds)).in("folds")
	}
	by := admin.User(r.Context())
	id, err := workbench.Ask(r.Context(), h.cfg.Store, a, by)
	if err != nil {
		return reply{}, err
	}
	err = h.cfg.Store.AddAudit(r.Context(), catalog.Audit{By: by, Action: "job", Subject: "profile " + a.Name,
		Note: fmt.Sprintf("fit %s to %d queries of %s", a.Profile, len(collection.Queries), c.Name)})
	return reply{Goto: fmt.Sprintf("/tuning/fit/%d", id)}, err
}

// fittedWeight is a weight with the widths of its bars, in hundredths of the
// largest.
type fittedWeight struct {
	workbench.FitWeight
	WidthBefore, WidthAfter int
}

// fit shows what a tuning learned.
func (h *Handler) fit(r *http.Request) (reply, error) {
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err != nil {
		return reply{}, fmt.Errorf("job %s: %w", r.PathValue("id"), catalog.ErrNotFound)
	}
	job, err := h.cfg.Store.Job(r.Context(), id)
	if err == nil && job.Kind != (workbench.TuneTask{}).Kind() {
		err = fmt.Errorf("tuning job %d: %w", id, catalog.ErrNotFound)
	}
	if err != nil {
		return reply{}, err
	}
	cases, err := h.cfg.Store.Cases(r.Context())
	if err != nil {
		return reply{}, err
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
	page := look.Page{Title: fmt.Sprintf("Fit %d", id), Path: fmt.Sprintf("/tuning/fit/%d", id), Section: "/tuning"}
	if job.DoneAt.IsZero() {
		page.Refresh = 2
	}
	return reply{Template: "fit-result", Page: page, Data: map[string]any{"Job": f, "Weights": weights}}, nil
}
