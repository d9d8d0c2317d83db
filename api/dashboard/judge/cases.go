// Package judge is the room of the dashboard where answers are judged and measured: cases of
// queries with judgments, runs of profiles over them, and what people search for.
package judge

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"almanac/api/admin"
	"almanac/api/dashboard/form"
	"almanac/catalog"
	"almanac/retrieval/ranking"
	"almanac/retrieval/workbench"
)

// handler answers.
type handler struct{ *form.Pages }

// Routes are those of the room.
func Routes(p *form.Pages) map[string]form.Route {
	h := handler{p}
	return map[string]form.Route{
		"GET /cases":                form.Page(h.cases),
		"POST /cases":               form.Form(h.makeCase, h.cases),
		"GET /cases/pool":           form.Page(h.openPool),
		"POST /cases/pool":          form.Form(h.addToPool, h.openPool),
		"POST /cases/import":        form.Upload(h.importCase, h.importPage),
		"GET /cases/{id}":           form.Page(h.ofCase(h.showCase)),
		"POST /cases/{id}":          form.Form(h.ofCase(h.changeCase), h.ofCase(h.showCase)),
		"GET /cases/{id}/query":     form.Page(h.ofCase(h.editQuery)),
		"POST /cases/{id}/query":    form.Form(h.ofCase(h.putQuery), h.ofCase(h.editQuery)),
		"GET /cases/{id}/judge":     form.Page(h.ofCase(h.judge)),
		"POST /cases/{id}/judge":    form.Form(h.ofCase(h.grade), h.ofCase(h.judge)),
		"GET /cases/{id}/agreement": form.Page(h.ofCase(h.agreement)),
		"GET /cases/{id}/export":    form.Page(h.ofCase(h.exportCase)),
		"POST /cases/{id}/model":    form.Form(h.ofCase(h.askModel), h.ofCase(h.showCase)),
		"POST /cases/{id}/clicks":   form.Form(h.ofCase(h.readClicks), h.ofCase(h.showCase)),

		"GET /evaluation":           form.Page(h.runs),
		"GET /evaluation/new":       form.Page(h.newRun),
		"POST /evaluation":          form.Form(h.startRun, h.newRun),
		"GET /evaluation/runs":      form.Page(h.comparison),
		"POST /evaluation/schedule": form.Form(h.schedule, h.runs),

		"GET /searches":         form.Page(h.searches),
		"GET /searches/csv":     form.Page(h.export),
		"POST /searches/sample": form.Form(h.sample, h.searches),
	}
}

// judgeOf is the name under which whoever makes a request judges.
func judgeOf(r *http.Request) string { return workbench.PersonJudge + admin.User(r.Context()) }

// cases lists cases.
func (h handler) cases(r *http.Request) (form.Reply, error) {
	list, err := workbench.List(r.Context(), h.Store)
	return form.Reply{Template: "cases", Title: "Cases", Data: list}, err
}

// makeCase makes an empty case.
func (h handler) makeCase(r *http.Request) (form.Reply, error) {
	name := strings.TrimSpace(r.FormValue("name"))
	if name == "" {
		return form.Reply{}, form.Invalid("a case needs a name").In("name")
	}
	c, err := h.NewCase(r, name, r.FormValue("description"))
	return form.Reply{Goto: form.CasePath(c.ID)}, err
}

// caseOf returns the case in a request's address.
func (h handler) caseOf(r *http.Request) (catalog.Case, error) {
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err != nil {
		return catalog.Case{}, fmt.Errorf("case %s: %w", r.PathValue("id"), catalog.ErrNotFound)
	}
	return workbench.Case(r.Context(), h.Store, id)
}

// ofCase answers with the case in a request's address.
func (h handler) ofCase(do func(*http.Request, catalog.Case) (form.Reply, error)) form.Answer {
	return func(r *http.Request) (form.Reply, error) {
		c, err := h.caseOf(r)
		if err != nil {
			return form.Reply{}, err
		}
		return do(r, c)
	}
}

// caseQuery is a query of a case with how it ranks, and how far it is judged.
type caseQuery struct {
	workbench.BoardRow
	Mine   int // graded by who looks at it
	Judged int // judgments of all
	Judge  string
}

// casePage is what the page of a case shows.
type casePage struct {
	workbench.Summary
	Board      workbench.Board
	List       []caseQuery
	Classes    []string
	Class      string // that is shown; "" = all
	Sort       string
	Sorts      any
	Agreements []workbench.Agreement
	Start      string // address of the first query that is not judged, else of the first
	Model      string // that may be asked; "" = none
	// Jobs are those of models that are open, and the last that is done.
	Jobs []workbench.Job[workbench.JudgeTask, workbench.Graded]
}

// sorts are the orders of the queries of a case; what was not measured comes last.
var sorts = []struct {
	Key, Name string
	by        func(a, b caseQuery) int
}{
	{"", "worst first", func(a, b caseQuery) int { return cmp.Or(unmeasured(a, b), cmp.Compare(a.NDCG, b.NDCG)) }},
	{"change", "largest loss first",
		func(a, b caseQuery) int { return cmp.Or(unmeasured(a, b), cmp.Compare(a.Change, b.Change)) }},
	{"unjudged", "least judged first", func(a, b caseQuery) int { return cmp.Compare(a.Judged, b.Judged) }},
	{"added", "as added", func(caseQuery, caseQuery) int { return 0 }},
}

// showCase lists the queries of a case, and who judged how much.
func (h handler) showCase(r *http.Request, c catalog.Case) (form.Reply, error) {
	p := casePage{Model: h.JudgeModel, Class: r.FormValue("class"), Sort: r.FormValue("sort"), Sorts: sorts}
	queries, judgments, err := workbench.Content(r.Context(), h.Store, c.ID)
	if err != nil {
		return form.Reply{}, err
	}
	if p.Board, err = h.Bench.Board(r.Context(), c); err != nil {
		return form.Reply{}, err
	}
	p.Summary, p.Agreements = workbench.Summarize(c, queries, judgments), workbench.Agreements(judgments)
	mine, all := map[string]int{}, map[string]int{} // judgments by query
	for _, j := range judgments {
		all[j.Query]++
		if j.Judge == judgeOf(r) {
			mine[j.Query]++
		}
	}
	first := true // of those that nobody judged
	for _, q := range p.Board.Rows {
		row := caseQuery{BoardRow: q, Mine: mine[q.ID], Judged: all[q.ID], Judge: session{Case: c.ID, Query: q.ID}.link()}
		if p.Start == "" || row.Judged == 0 && first {
			p.Start, first = row.Judge, row.Judged > 0
		}
		if q.Kind != "" && !slices.Contains(p.Classes, q.Kind) {
			p.Classes = append(p.Classes, q.Kind)
		}
		if p.Class == "" || p.Class == q.Kind {
			p.List = append(p.List, row)
		}
	}
	slices.Sort(p.Classes)
	for _, order := range sorts {
		if order.Key == p.Sort {
			slices.SortStableFunc(p.List, order.by)
		}
	}
	jobs, err := workbench.JobsOf[workbench.JudgeTask, workbench.Graded](r.Context(), h.Store, 100)
	for _, job := range jobs {
		if job.Task.Case != c.ID {
			continue
		}
		if p.Jobs = append(p.Jobs, job); !job.DoneAt.IsZero() {
			break
		}
	}
	return form.Reply{Template: "case", Title: c.Name, Data: p}, err
}

func unmeasured(a, b caseQuery) int {
	switch {
	case a.Measured == b.Measured:
		return 0
	case a.Measured:
		return -1
	}
	return 1
}

// maxDescription is how many bytes a case says of itself, with its guidelines.
const maxDescription = 16 << 10

// changeCase describes or removes a case.
func (h handler) changeCase(r *http.Request, c catalog.Case) (_ form.Reply, err error) {
	by := admin.User(r.Context())
	switch r.FormValue("do") {
	case "remove":
		return form.Reply{Goto: "/cases"}, h.Store.DropCase(r.Context(), c.ID, by)
	case "describe":
		if c.Description = strings.TrimSpace(r.FormValue("description")); len(c.Description) > maxDescription {
			err := form.Invalid(fmt.Sprintf("a description has at most %d KiB", maxDescription>>10))
			return form.Reply{}, err.In("description")
		}
		_, err = h.Store.PutCase(r.Context(), c, by)
		return form.Reply{Goto: form.CasePath(c.ID)}, err
	}
	return form.Reply{}, form.Invalid("do must be describe or remove")
}

// queryPage is the form of a query.
type queryPage struct {
	Case     catalog.Case
	Query    catalog.CaseQuery // as it was typed
	New      bool
	Conflict *catalog.ConflictError
	Theirs   catalog.CaseQuery // what the other made of it
}

// queryOf returns a query of a case. ErrNotFound.
func (h handler) queryOf(ctx context.Context, c catalog.Case, id string) (catalog.CaseQuery, error) {
	queries, err := h.Store.Queries(ctx, c.ID)
	if err != nil {
		return catalog.CaseQuery{}, err
	}
	at := slices.IndexFunc(queries, func(q catalog.CaseQuery) bool { return q.ID == id })
	if at < 0 {
		return catalog.CaseQuery{}, fmt.Errorf("query %q: %w", id, catalog.ErrNotFound)
	}
	return queries[at], nil
}

// editQuery shows the form of a query; without one that of a new query.
func (h handler) editQuery(r *http.Request, c catalog.Case) (_ form.Reply, err error) {
	p := queryPage{Case: c, New: r.FormValue("query") == ""}
	if !p.New {
		p.Query, err = h.queryOf(r.Context(), c, r.FormValue("query"))
	}
	return p.reply(), err
}

func (p queryPage) reply() form.Reply {
	title := "New query"
	if !p.New {
		title = p.Query.Text
	}
	out := form.Reply{Template: "query", Title: title, Data: p}
	if p.Conflict != nil {
		out.Status = http.StatusConflict
	}
	return out
}

// putQuery stores or removes a query. Who was overtaken by somebody else keeps what
// they typed.
func (h handler) putQuery(r *http.Request, c catalog.Case) (_ form.Reply, err error) {
	by, id := admin.User(r.Context()), r.FormValue("query")
	if r.FormValue("do") == "remove" {
		return form.Reply{Goto: form.CasePath(c.ID)}, h.Store.DropQuery(r.Context(), c.ID, id, by)
	}
	p := queryPage{Case: c, New: id == "", Query: catalog.CaseQuery{ID: id, Text: strings.TrimSpace(r.FormValue("text")),
		Kind: strings.TrimSpace(r.FormValue("kind")), Need: strings.TrimSpace(r.FormValue("need")),
		Note: strings.TrimSpace(r.FormValue("note")), Revision: form.Number(r, "revision", 0)}}
	if p.Query.Text == "" {
		return form.Reply{}, form.Invalid("a query needs a text").In("text")
	}
	if err := workbench.CheckQuery(p.Query); err != nil {
		return form.Reply{}, err
	}
	if p.New {
		if p.Query.ID, err = h.freeID(r.Context(), c); err != nil {
			return form.Reply{}, err
		}
	}
	err = h.Store.PutQueries(r.Context(), c.ID, []catalog.CaseQuery{p.Query}, by)
	if conflict, ok := errors.AsType[*catalog.ConflictError](err); ok && !p.New {
		p.Theirs, err = h.queryOf(r.Context(), c, p.Query.ID)
		p.Conflict, p.Query.Revision = conflict, p.Theirs.Revision
		if errors.Is(err, catalog.ErrNotFound) { // they removed it: saving adds it again
			p.Theirs, err = catalog.CaseQuery{}, nil
		}
		return p.reply(), err
	}
	return form.Reply{Goto: form.CasePath(c.ID)}, err
}

// freeID is the id of a new query.
func (h handler) freeID(ctx context.Context, c catalog.Case) (string, error) {
	queries, err := h.Store.Queries(ctx, c.ID)
	return workbench.FreeID(queries), err
}

// openPool goes to the query of the lab in the first case that has it, or asks which
// case is to have it.
func (h handler) openPool(r *http.Request) (form.Reply, error) {
	text := strings.TrimSpace(r.FormValue("q"))
	if text == "" {
		return form.Reply{}, form.Invalid("which query is to be judged?")
	}
	cases, err := h.Store.Cases(r.Context())
	if err != nil {
		return form.Reply{}, err
	}
	s := session{Profiles: slices.DeleteFunc(append([]string{r.FormValue("a"), r.FormValue("b")},
		r.Form["profile"]...), func(name string) bool {
		return name == "" || name == form.Edited
	})}
	for _, c := range cases {
		queries, err := h.Store.Queries(r.Context(), c.ID)
		if err != nil {
			return form.Reply{}, err
		}
		if q := workbench.QueryNamed(queries, text); q != nil {
			s.Case, s.Query = c.ID, q.ID
			return form.Reply{Goto: s.link()}, nil
		}
	}
	return form.Reply{Template: "pool", Title: "Judge a query",
		Data: map[string]any{"Query": text, "Cases": cases, "Profiles": s.Profiles,
			"Edited": slices.Contains([]string{r.FormValue("a"), r.FormValue("b")}, form.Edited)}}, nil
}

// addToPool adds a query to a case, which may be new, and goes on to judge it.
func (h handler) addToPool(r *http.Request) (form.Reply, error) {
	name := strings.TrimSpace(r.FormValue("name"))
	q := catalog.CaseQuery{Text: strings.TrimSpace(r.FormValue("q")), Need: strings.TrimSpace(r.FormValue("need"))}
	if q.Text == "" {
		return form.Reply{}, form.Invalid("a query needs a text")
	}
	if err := workbench.CheckQuery(q); err != nil {
		return form.Reply{}, err
	}
	var c catalog.Case
	var err error
	if name != "" {
		c, err = h.NewCase(r, name, "")
	} else {
		r.SetPathValue("id", r.FormValue("case"))
		c, err = h.caseOf(r)
	}
	if err != nil {
		return form.Reply{}, err
	}
	if q.ID, err = h.freeID(r.Context(), c); err == nil {
		err = h.Store.PutQueries(r.Context(), c.ID, []catalog.CaseQuery{q}, admin.User(r.Context()))
	}
	return form.Reply{Goto: session{Case: c.ID, Query: q.ID, Profiles: r.Form["profile"]}.link()}, err
}

// session is what somebody judges: a query, and whose results.
type session struct {
	Case     int64
	Query    string
	Profiles []string // none: those that a search has without anything saved
	Depth    int      // 0: workbench.Depth
	Fresh    bool     // without what others judged
}

// pooled are the profiles of a pool that nobody chose.
var pooled = []string{ranking.Live, ranking.Configured, ranking.KeywordOnly, ranking.VectorOnly}

// link is the address of a session, with more parameters as names and values.
func (s session) link(more ...any) string {
	all := []any{"query", s.Query, "profile", s.Profiles}
	if s.Depth != 0 {
		all = append(all, "n", s.Depth)
	}
	if s.Fresh {
		all = append(all, "fresh", 1)
	}
	return form.Address(form.CasePath(s.Case)+"/judge", append(all, more...)...)
}
