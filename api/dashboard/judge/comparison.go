package judge

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
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
	With       string                // address where its queries are compared; "": they are here
}

// measured is a row of measures: of all queries, or of a class of them.
type measured struct {
	Class   string // "" = all
	Queries int
	Failed  int
	eval.Measures
	eval.Interval
	Change *eval.Comparison // with the first run; nil: it is that
}

// queried is a query in one run, and in the first.
type queried struct {
	eval.QueryReport
	Before *workbench.Change // what changed since the first run; nil: there is one run
	Lab    string            // where to see why
	Judge  string            // where to judge what the two runs found
}

// notMeasured is a search that failed.
type notMeasured struct {
	Profile string
	eval.QueryReport
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
	var out []compared
	var failures []notMeasured
	for i, run := range runs {
		c := compared{Run: run, Rows: rowsOf(run.Report)}
		if i > 0 {
			d := workbench.Compare(run, runs[0])
			c.Difference = &d
			c.compareClasses(runs[0].Report)
		}
		if i > 0 && i != with {
			query := url.Values{"with": {strconv.FormatInt(run.ID, 10)}, "run": r.Form["run"]}
			c.With = "/evaluation/runs?" + query.Encode() + "#queries"
		}
		for _, x := range run.Report.PerQuery {
			if x.Failure != "" {
				failures = append(failures, notMeasured{run.Report.Profile, x})
			}
		}
		out = append(out, c)
	}
	return form.Reply{Template: "evaluation-runs", Title: "Runs of " + name,
		Data: map[string]any{"Name": name, "Runs": out, "With": out[with], "Queries": queriesOf(runs[0], out[with]),
			"Failures": failures, "Unlike": unlike(runs)}}, nil
}

// chosenRuns reads the runs that a request names, oldest first.
func (h handler) chosenRuns(r *http.Request) ([]workbench.Run, error) {
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
	return h.loadRuns(r.Context(), ids)
}

// loadRuns reads runs of one case.
func (h handler) loadRuns(ctx context.Context, ids []int64) ([]workbench.Run, error) {
	runs := make([]workbench.Run, len(ids))
	for i, id := range ids {
		var err error
		if runs[i], err = workbench.Load(ctx, h.Store, id); err != nil {
			return nil, err
		}
		if runs[i].Case != runs[0].Case {
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
	rows := []measured{{"", r.Queries, r.Unmeasured(), r.Measures, r.Interval, nil}}
	for _, class := range slices.Sorted(maps.Keys(r.Kinds)) {
		k := r.Kinds[class]
		rows = append(rows, measured{class, k.Queries, failed[class], k.Measures, k.Interval, nil})
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
func queriesOf(first workbench.Run, with compared) []queried {
	row := func(x eval.QueryReport, change *workbench.Change) queried {
		lab := url.Values{"q": {x.Query.Text}, "a": {first.Report.Profile}, "b": {with.Report.Profile}}
		if with.ID == first.ID {
			lab.Del("b")
		}
		judge := url.Values{"query": {x.Query.ID}, "profile": slices.Compact(
			[]string{first.Report.Profile, with.Report.Profile})}
		return queried{x, change, "/lab?" + lab.Encode(), fmt.Sprintf("/cases/%d/judge?%s", first.Case, judge.Encode())}
	}
	var out []queried
	if with.Difference == nil {
		for _, x := range with.Report.PerQuery {
			if x.Failure == "" {
				out = append(out, row(x, nil))
			}
		}
		slices.SortStableFunc(out, func(a, b queried) int { return cmp.Compare(a.NDCG10, b.NDCG10) })
		return out
	}
	for i, c := range with.Difference.Changes {
		out = append(out, row(c.Ours, &with.Difference.Changes[i]))
	}
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
