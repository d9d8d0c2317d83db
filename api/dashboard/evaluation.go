package dashboard

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"almanac/api/admin"
	"almanac/api/look"
	"almanac/catalog"
	"almanac/retrieval/eval"
	"almanac/retrieval/revision"
	"almanac/retrieval/workbench"
)

// evaluation are the pages about what profiles measure on cases.
func (h *Handler) evaluation() map[string]answer {
	return map[string]answer{
		"GET /evaluation":           h.runs,
		"GET /evaluation/new":       h.newRun,
		"POST /evaluation":          h.startRun,
		"GET /evaluation/runs":      h.comparison,
		"POST /evaluation/schedule": h.schedule,
	}
}

// maxRuns is how many runs the list shows; older ones are in the charts.
const maxRuns = 60

// intervals are the choices between scheduled runs.
var intervals = []struct {
	Every time.Duration
	Name  string
}{{0, "never"}, {6 * time.Hour, "every 6 hours"}, {24 * time.Hour, "every day"}, {7 * 24 * time.Hour, "every week"}}

// listed is a run in the list.
type listed struct {
	workbench.Run
	CaseName string
	Together string // address of all runs of its job
}

// trend is a measure of a profile over time.
type trend struct {
	Name   string
	Points []look.Point
}

// pending is an evaluation that was asked for and is not done.
type pending struct {
	catalog.Request
	workbench.EvalTask
	CaseName string
}

// runs lists runs, their trends, and what is under way.
func (h *Handler) runs(r *http.Request) (reply, error) {
	ctx, of := r.Context(), int64(number(r, "case", 0))
	cases, err := h.cfg.Store.Cases(ctx)
	if err != nil {
		return reply{}, err
	}
	names := map[int64]string{}
	for _, c := range cases {
		names[c.ID] = c.Name
	}
	all, err := workbench.ListRuns(ctx, h.cfg.Store, of, 0)
	if err != nil {
		return reply{}, err
	}
	measure := eval.AllMeasures[max(0, slices.IndexFunc(eval.AllMeasures, func(m eval.Named) bool {
		return m.Key == r.FormValue("measure")
	}))]
	var list []listed
	for _, run := range all[:min(maxRuns, len(all))] {
		list = append(list, listed{run, names[run.Case], together(run, all)})
	}
	open, err := h.pendingRuns(ctx, names)
	if err != nil {
		return reply{}, err
	}
	failed, err := h.lastFailure(ctx)
	return reply{Template: "evaluation", Page: look.Page{Title: "Evaluation", Path: "/evaluation"}, Data: map[string]any{
		"Case": of, "Cases": cases, "Runs": list, "More": len(all) - len(list), "Measure": measure,
		"Measures": eval.AllMeasures, "Trends": trends(all, names, measure), "Pending": open, "Failed": failed,
		"Intervals": intervals,
	}}, err
}

// together returns the address of a run with the others of its job.
func together(run workbench.Run, all []workbench.Run) string {
	var ids []string
	for _, x := range all {
		if x.Case == run.Case && x.By == run.By && x.At.Equal(run.At) {
			ids = append(ids, fmt.Sprintf("run=%d", x.ID))
		}
	}
	slices.Reverse(ids) // oldest first
	return "/evaluation/runs?" + strings.Join(ids, "&")
}

// trends are a measure's values by case and profile, of those that were run more
// than once.
func trends(all []workbench.Run, cases map[int64]string, measure eval.Named) []trend {
	var out []trend
	for _, run := range slices.Backward(all) { // oldest first
		name := cases[run.Case] + ", " + run.Profile
		at := slices.IndexFunc(out, func(t trend) bool { return t.Name == name })
		if at < 0 {
			at, out = len(out), append(out, trend{Name: name})
		}
		out[at].Points = append(out[at].Points, look.Point{At: run.At, Value: *measure.Of(&run.Report.Measures)})
	}
	return slices.DeleteFunc(out, func(t trend) bool { return len(t.Points) < 2 })
}

// pendingRuns lists the evaluations that are not done.
func (h *Handler) pendingRuns(ctx context.Context, cases map[int64]string) ([]pending, error) {
	open, err := h.cfg.Store.Requests(ctx)
	if err != nil {
		return nil, err
	}
	var out []pending
	for _, r := range open {
		if task, err := workbench.TaskOf[workbench.EvalTask](r); err == nil {
			out = append(out, pending{r, task, cases[task.Case]})
		}
	}
	return out, nil
}

// lastFailure returns the newest evaluation if it failed; nil if it did not.
func (h *Handler) lastFailure(ctx context.Context) (*catalog.Request, error) {
	jobs, err := h.cfg.Store.Jobs(ctx, 100)
	at := slices.IndexFunc(jobs, func(r catalog.Request) bool {
		return r.Kind == workbench.EvalTask{}.Kind() && !r.DoneAt.IsZero()
	})
	if at < 0 || jobs[at].Failure == "" {
		return nil, err
	}
	return &jobs[at], err
}

// maxProfiles is how many profiles one run measures.
const maxProfiles = 4

// newRun shows the form of a run.
func (h *Handler) newRun(r *http.Request) (reply, error) {
	ctx := r.Context()
	cases, err := h.cfg.Store.Cases(ctx)
	if err != nil {
		return reply{}, err
	}
	judges, err := h.judges(ctx, cases)
	if err != nil {
		return reply{}, err
	}
	choices, err := h.profileNames(ctx)
	chosen := []string{revision.Published, "", "", ""}
	for i, side := range []string{"a", "b"} {
		if name := r.FormValue(side); slices.Contains(choices, name) {
			chosen[i] = name
		}
	}
	return reply{Template: "evaluation-new", Page: look.Page{Title: "New run", Path: "/evaluation"}, Data: map[string]any{
		"Case": int64(number(r, "case", 0)), "Cases": cases, "Judges": judges, "Profiles": choices, "Chosen": chosen,
	}}, err
}

// profileNames are the profiles that can be measured: those that have a name.
func (h *Handler) profileNames(ctx context.Context) ([]string, error) {
	names, err := h.choices(ctx)
	return slices.DeleteFunc(names, func(name string) bool { return name == edited }), err
}

// startRun asks for a run.
func (h *Handler) startRun(r *http.Request) (reply, error) {
	if err := r.ParseForm(); err != nil {
		return reply{}, invalid("the form cannot be read")
	}
	ctx := r.Context()
	a := workbench.EvalTask{Case: int64(number(r, "case", 0)), Judges: r.Form["judge"]}
	for _, name := range r.Form["profile"] {
		if name == "" {
			continue
		}
		if slices.Contains(a.Profiles, name) {
			return reply{}, invalid(name + " is chosen twice").in("profile")
		}
		if _, err := h.cfg.Revisions.Named(ctx, name); errors.Is(err, catalog.ErrNotFound) {
			return reply{}, invalid("there is no profile " + name).in("profile")
		} else if err != nil {
			return reply{}, err
		}
		a.Profiles = append(a.Profiles, name)
	}
	if n := len(a.Profiles); n < 1 || n > maxProfiles {
		return reply{}, invalid(fmt.Sprintf("a run is of 1 to %d profiles", maxProfiles)).in("profile")
	}
	c, collection, err := workbench.Collection(ctx, h.cfg.Store, a.Case, a.Judges)
	if errors.Is(err, workbench.ErrUnjudged) {
		return reply{}, invalid(err.Error()).in("case")
	}
	if err != nil {
		return reply{}, err
	}
	by := admin.User(ctx)
	if _, err := workbench.Ask(ctx, h.cfg.Store, a, by); err != nil {
		return reply{}, err
	}
	err = h.cfg.Store.AddAudit(ctx, catalog.Audit{By: by, Action: "job", Subject: "case " + c.Name,
		Note: fmt.Sprintf("evaluate %d queries with %s", len(collection.Queries), strings.Join(a.Profiles, ", "))})
	return reply{Goto: "/evaluation?case=" + strconv.FormatInt(a.Case, 10)}, err
}

// schedule sets how often a case is run.
func (h *Handler) schedule(r *http.Request) (reply, error) {
	every, err := time.ParseDuration(r.FormValue("every"))
	if err != nil || every < 0 || every > 0 && every < time.Hour {
		return reply{}, invalid("a case is run every hour or less often").in("every")
	}
	c, err := workbench.Case(r.Context(), h.cfg.Store, int64(number(r, "case", 0)))
	if err != nil {
		return reply{}, err
	}
	c.Every = every
	_, err = h.cfg.Store.PutCase(r.Context(), c, admin.User(r.Context()))
	return reply{Goto: "/evaluation"}, err
}
