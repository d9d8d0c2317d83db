package judge

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"

	"almanac/api/dashboard/form"
	"almanac/catalog"
	"almanac/retrieval/eval"
	"almanac/retrieval/workbench"
)

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
