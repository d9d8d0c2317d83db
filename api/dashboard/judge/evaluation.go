package judge

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"almanac/api/admin"
	"almanac/api/dashboard/form"
	"almanac/api/look"
	"almanac/catalog"
	"almanac/retrieval/eval"
	"almanac/retrieval/ranking"
	"almanac/retrieval/workbench"
)

// maxRuns is how many runs the list shows; older ones are in the charts.
const maxRuns = 60

// maxMarks is how many publications the charts show.
const maxMarks = 20

// intervals are the choices between scheduled runs.
var intervals = []struct {
	Every time.Duration
	Name  string
}{{0, "never"}, {6 * time.Hour, "every 6 hours"}, {24 * time.Hour, "every day"}, {7 * 24 * time.Hour, "every week"}}

// runs lists runs, their trends, and what is under way.
func (h handler) runs(r *http.Request) (form.Reply, error) {
	ctx, of := r.Context(), int64(form.Number(r, "case", 0))
	cases, names, err := h.Cases(ctx)
	if err != nil {
		return form.Reply{}, err
	}
	all, err := workbench.ListRuns(ctx, h.Store, of, 0)
	if err != nil {
		return form.Reply{}, err
	}
	measure := eval.AllMeasures[max(0, slices.IndexFunc(eval.AllMeasures, func(m eval.Named) bool {
		return m.Key == r.FormValue("measure")
	}))]
	list := all[:min(maxRuns, len(all))]
	withOthers := map[int64]string{} // addresses, by runs
	for _, run := range list {
		withOthers[run.ID] = together(run, all)
	}
	jobs, err := workbench.JobsOf[workbench.EvalTask, workbench.Runs](ctx, h.Store, 0)
	if err != nil {
		return form.Reply{}, err
	}
	open := slices.DeleteFunc(slices.Clone(jobs), func(j evaluation) bool { return !j.DoneAt.IsZero() })
	slices.Reverse(open) // oldest first
	var failed *evaluation
	last := slices.IndexFunc(jobs, func(j evaluation) bool { return !j.DoneAt.IsZero() })
	if last >= 0 && jobs[last].Failure != "" {
		failed = &jobs[last]
	}
	published, err := h.Store.Publications(ctx, catalog.ProfileRevision, maxMarks)
	return form.Reply{Template: "evaluation", Title: "Evaluation", Data: map[string]any{
		"Case": of, "Cases": cases, "Names": names, "Runs": list, "More": len(all) - len(list), "Together": withOthers,
		"Measure": measure, "Measures": eval.AllMeasures, "Trends": trends(all, names, measure, published),
		"Pending": open, "Failed": failed, "Intervals": intervals,
	}}, err
}

// evaluation is a run that was asked for.
type evaluation = workbench.Job[workbench.EvalTask, workbench.Runs]

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

// trends are a measure's values by case and profile, of those that were run more than
// once, with the moments at which another profile was published.
func trends(
	all []workbench.Run, cases map[int64]string, measure eval.Named, published []catalog.Publication,
) (out []look.Chart) {
	var marks []look.Mark
	for _, p := range slices.Backward(published) { // oldest first
		marks = append(marks, look.Mark{At: p.At, Name: p.String()})
	}
	for _, run := range slices.Backward(all) { // oldest first
		name := measure.Title + ", " + cases[run.Case] + ", " + run.Profile
		at := slices.IndexFunc(out, func(t look.Chart) bool { return t.Name == name })
		if at < 0 {
			at, out = len(out), append(out, look.Chart{Name: name, Marks: marks, Dots: true, Top: 1})
		}
		p := look.Point{At: run.At, Value: *measure.Of(&run.Report.Measures)}
		if i := run.Report.Interval; measure.Of(&run.Report.Measures) == &run.Report.NDCG10 && i.High > 0 {
			p.Low, p.High, out[at].Top = i.Low, i.High, 0
		}
		out[at].Points = append(out[at].Points, p)
	}
	return slices.DeleteFunc(out, func(t look.Chart) bool { return len(t.Points) < 2 })
}

// maxProfiles is how many profiles one run measures.
const maxProfiles = 4

// newRun shows the form of a run.
func (h handler) newRun(r *http.Request) (form.Reply, error) {
	ctx := r.Context()
	cases, err := h.Store.Cases(ctx)
	if err != nil {
		return form.Reply{}, err
	}
	judges, err := workbench.Judges(ctx, h.Store, cases)
	if err != nil {
		return form.Reply{}, err
	}
	choices, err := h.Names(ctx)
	chosen := []string{ranking.Live, "", "", ""}
	for i, side := range []string{"a", "b"} {
		if name := r.FormValue(side); slices.Contains(choices, name) {
			chosen[i] = name
		}
	}
	copy(chosen, r.PostForm["profile"])
	return form.Reply{Template: "evaluation-new", Title: "New run", Data: map[string]any{
		"Case": int64(form.Number(r, "case", 0)), "Cases": cases, "Judges": judges, "Profiles": choices, "Chosen": chosen,
	}}, err
}

// startRun asks for a run.
func (h handler) startRun(r *http.Request) (form.Reply, error) {
	if err := r.ParseForm(); err != nil {
		return form.Reply{}, form.Invalid("the form cannot be read")
	}
	ctx := r.Context()
	a := workbench.EvalTask{Case: int64(form.Number(r, "case", 0)), Judges: r.Form["judge"]}
	for _, name := range r.Form["profile"] {
		if name == "" {
			continue
		}
		if slices.Contains(a.Profiles, name) {
			return form.Reply{}, form.Invalid(name + " is chosen twice").In("profile")
		}
		if _, err := h.Named(ctx, name); errors.Is(err, catalog.ErrNotFound) {
			return form.Reply{}, form.Invalid("there is no profile " + name).In("profile")
		} else if err != nil {
			return form.Reply{}, err
		}
		a.Profiles = append(a.Profiles, name)
	}
	if n := len(a.Profiles); n < 1 || n > maxProfiles {
		return form.Reply{}, form.Invalid(fmt.Sprintf("a run is of 1 to %d profiles", maxProfiles)).In("profile")
	}
	c, collection, err := workbench.Collection(ctx, h.Store, a.Case, a.Judges)
	if errors.Is(err, workbench.ErrUnjudged) {
		return form.Reply{}, form.Invalid(err.Error()).In("case")
	}
	if err != nil {
		return form.Reply{}, err
	}
	by := admin.User(ctx)
	if _, err := workbench.Ask(ctx, h.Store, a, by); err != nil {
		return form.Reply{}, err
	}
	err = h.Store.AddAudit(ctx, catalog.Audit{By: by, Action: "job", Subject: "case " + c.Name,
		Note: fmt.Sprintf("evaluate %d queries with %s", len(collection.Queries), strings.Join(a.Profiles, ", "))})
	return form.Reply{Goto: "/evaluation?case=" + strconv.FormatInt(a.Case, 10)}, err
}

// schedule sets how often a case is run.
func (h handler) schedule(r *http.Request) (form.Reply, error) {
	every, err := time.ParseDuration(r.FormValue("every"))
	if err != nil || every < 0 || every > 0 && every < time.Hour {
		return form.Reply{}, form.Invalid("a case is run every hour or less often").In("every")
	}
	c, err := workbench.Case(r.Context(), h.Store, int64(form.Number(r, "case", 0)))
	if err != nil {
		return form.Reply{}, err
	}
	c.Every = every
	_, err = h.Store.PutCase(r.Context(), c, admin.User(r.Context()))
	return form.Reply{Goto: "/evaluation"}, err
}

// maxCompared is how many runs one page compares.
const maxCompared = 6

// compared is a run beside the first one.
type compared struct {
	workbench.Run
	Rows       []measured
	Difference *workbench.Difference // from the first run; nil: it is that
}

// measured is a row of measures: of all queries, or of a class of them.
type measured struct {
	Class string // "" = all
	eval.Kind
	Failed int
	Change *eval.Comparison // with the first run; nil: it is that
}

// comparison compares stored runs of one case, the oldest being the first.
func (h handler) comparison(r *http.Request) (form.Reply, error) {
	runs, err := h.chosenRuns(r)
	if err != nil {
		return form.Reply{}, err
	}
	name := "a case that is gone"
	if c, err := workbench.Case(r.Context(), h.Store, runs[0].Case); err == nil {
		name = c.Name
	} else if !errors.Is(err, catalog.ErrNotFound) {
		return form.Reply{}, err
	}
	with := min(1, len(runs)-1)
	for i, run := range runs {
		if i > 0 && run.ID == int64(form.Number(r, "with", 0)) {
			with = i
		}
	}
	out := make([]compared, len(runs))
	for i, run := range runs {
		out[i] = compared{Run: run, Rows: rowsOf(run.Report)}
		if i > 0 {
			d := workbench.Compare(run, runs[0])
			out[i].Difference = &d
			out[i].compareClasses(runs[0].Report)
		}
	}
	return form.Reply{Template: "evaluation-runs", Title: "Runs of " + name,
		Data: map[string]any{"Name": name, "Runs": out, "With": out[with], "Queries": queriesOf(out[with]),
			"Profiles": slices.Compact([]string{runs[0].Report.Profile, runs[with].Report.Profile}),
			"Chosen":   r.Form["run"], "Unlike": unlike(runs)}}, nil
}

// chosenRuns reads the runs of one case that a request names, oldest first.
func (h handler) chosenRuns(r *http.Request) (runs []workbench.Run, err error) {
	if err := r.ParseForm(); err != nil {
		return nil, form.Invalid("the form cannot be read")
	}
	var ids []int64
	for _, text := range r.Form["run"] {
		id, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return nil, form.Invalid("a run is named by its number")
		}
		ids = append(ids, id)
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	if len(ids) < 1 || len(ids) > maxCompared {
		return nil, form.Invalid(fmt.Sprintf("choose 1 to %d runs", maxCompared))
	}
	for _, id := range ids {
		run, err := workbench.Load(r.Context(), h.Store, id)
		if err != nil {
			return nil, err
		}
		if runs = append(runs, run); run.Case != runs[0].Case {
			return nil, form.Invalid("runs of different cases cannot be compared: they have different queries")
		}
	}
	return runs, nil
}

// rowsOf are the measures of a report: of all queries, then by class.
func rowsOf(r eval.Report) []measured {
	failed := map[string]int{}
	for _, x := range r.PerQuery {
		if x.Failure != "" {
			failed[x.Query.Kind]++
		}
	}
	all := eval.Kind{Queries: r.Queries, Measures: r.Measures, Interval: r.Interval}
	rows := []measured{{"", all, r.Unmeasured(), nil}}
	for _, class := range slices.Sorted(maps.Keys(r.Kinds)) {
		rows = append(rows, measured{class, r.Kinds[class], failed[class], nil})
	}
	return rows
}

// compareClasses compares every row with that of the first run.
func (c *compared) compareClasses(first eval.Report) {
	pairs := eval.Pairs(c.Report.PerQuery, first.PerQuery)
	for i := range c.Rows {
		var of []eval.Pair
		for _, p := range pairs {
			if class := c.Rows[i].Class; class == "" || class == p.Ours.Query.Kind {
				of = append(of, p)
			}
		}
		change := eval.ComparePairs(of)
		c.Rows[i].Change = &change
	}
}

// queriesOf are the queries of a run by their change since the first, the largest
// loss first; of one run alone the worst first.
func queriesOf(with compared) (out []workbench.Change) {
	if with.Difference != nil {
		return with.Difference.Changes
	}
	for _, x := range with.Report.PerQuery {
		if x.Failure == "" {
			out = append(out, workbench.Change{Pair: eval.Pair{Ours: x}})
		}
	}
	slices.SortStableFunc(out, func(a, b workbench.Change) int { return cmp.Compare(a.Ours.NDCG10, b.Ours.NDCG10) })
	return out
}

// unlike says what besides the profile was not the same for all runs.
func unlike(runs []workbench.Run) (out []string) {
	for _, x := range []struct {
		name string
		of   func(workbench.Run) any
	}{
		{"judges", func(r workbench.Run) any { return r.Judges }},
		{"generation of the index", func(r workbench.Run) any { return r.Generation }},
		{"embedding model", func(r workbench.Run) any { return r.Model }},
		{"version of the program", func(r workbench.Run) any { return r.Version }},
		{"number of queries", func(r workbench.Run) any { return r.Report.Queries }},
	} {
		if slices.ContainsFunc(runs, func(r workbench.Run) bool { return x.of(r) != x.of(runs[0]) }) {
			out = append(out, x.name)
		}
	}
	return out
}
