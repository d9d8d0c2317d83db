package dashboard

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"almanac/api/admin"
	"almanac/api/look"
	"almanac/catalog"
	"almanac/retrieval/revision"
	"almanac/retrieval/workbench"
)

// judging are the pages about cases: queries, what is wanted of an answer, and how
// good documents are.
func (h *Handler) judging() map[string]answer {
	return map[string]answer{
		"GET /judging":                h.cases,
		"POST /judging":               h.makeCase,
		"GET /judging/pool":           h.openPool,
		"POST /judging/pool":          h.addToPool,
		"POST /judging/import":        h.importCase,
		"GET /judging/{id}":           h.ofCase(h.showCase),
		"POST /judging/{id}":          h.ofCase(h.changeCase),
		"GET /judging/{id}/query":     h.ofCase(h.editQuery),
		"POST /judging/{id}/query":    h.ofCase(h.putQuery),
		"GET /judging/{id}/judge":     h.ofCase(h.judge),
		"POST /judging/{id}/judge":    h.ofCase(h.grade),
		"GET /judging/{id}/agreement": h.ofCase(h.agreement),
		"GET /judging/{id}/export":    h.ofCase(h.exportCase),
		"POST /judging/{id}/model":    h.ofCase(h.askModel),
		"POST /judging/{id}/clicks":   h.ofCase(h.readClicks),
	}
}

// judgeOf is the name under which whoever makes a request judges.
func judgeOf(r *http.Request) string { return workbench.PersonJudge + admin.User(r.Context()) }

// pooler makes pools over the index that serves.
func (h *Handler) pooler() workbench.Pooler {
	return workbench.Pooler{Source: h.cfg.Revisions, Search: h.cfg.Search}
}

// cases lists cases.
func (h *Handler) cases(r *http.Request) (reply, error) {
	list, err := workbench.List(r.Context(), h.cfg.Store)
	return reply{Template: "judging", Page: look.Page{Title: "Judging", Path: "/judging"}, Data: list}, err
}

// makeCase makes an empty case.
func (h *Handler) makeCase(r *http.Request) (reply, error) {
	name := strings.TrimSpace(r.FormValue("name"))
	if name == "" {
		return reply{}, invalid("a case needs a name").in("name")
	}
	c, err := h.newCase(r, name, r.FormValue("description"))
	return reply{Goto: caseLink(c.ID)}, err
}

// newCase makes a case whose name is free.
func (h *Handler) newCase(r *http.Request, name, description string) (catalog.Case, error) {
	_, err := workbench.CaseNamed(r.Context(), h.cfg.Store, name)
	if err == nil {
		return catalog.Case{}, invalid(fmt.Sprintf("there is a case %q already", name)).in("name")
	}
	if !errors.Is(err, catalog.ErrNotFound) {
		return catalog.Case{}, err
	}
	return h.cfg.Store.PutCase(r.Context(), catalog.Case{Name: name, Description: strings.TrimSpace(description)},
		admin.User(r.Context()))
}

// caseLink is the address of a case.
func caseLink(id int64) string { return "/judging/" + strconv.FormatInt(id, 10) }

// caseOf returns the case in a request's address.
func (h *Handler) caseOf(r *http.Request) (catalog.Case, error) {
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err != nil {
		return catalog.Case{}, fmt.Errorf("case %s: %w", r.PathValue("id"), catalog.ErrNotFound)
	}
	return workbench.Case(r.Context(), h.cfg.Store, id)
}

// ofCase answers with the case in a request's address.
func (h *Handler) ofCase(do func(*http.Request, catalog.Case) (reply, error)) answer {
	return func(r *http.Request) (reply, error) {
		c, err := h.caseOf(r)
		if err != nil {
			return reply{}, err
		}
		return do(r, c)
	}
}

// caseQuery is a query of a case with how far it is.
type caseQuery struct {
	catalog.CaseQuery
	Mine   int // graded by who looks at it
	Judged int // judgments of all
	Judge  string
	Edit   string
}

// casePage is what the page of a case shows.
type casePage struct {
	workbench.Summary
	List       []caseQuery
	Agreements []workbench.Agreement
	Start      string // address of the first query that is not judged, else of the first
	Model      string // that may be asked; "" = none
	Jobs       []judgeJob
}

// judgeJob is a model at work on the case.
type judgeJob struct {
	catalog.Request
	Done workbench.Graded
}

// showCase lists the queries of a case, and who judged how much.
func (h *Handler) showCase(r *http.Request, c catalog.Case) (reply, error) {
	p := casePage{Model: h.cfg.JudgeModel}
	queries, err := h.cfg.Store.Queries(r.Context(), c.ID)
	if err != nil {
		return reply{}, err
	}
	judgments, err := h.cfg.Store.Judgments(r.Context(), c.ID)
	if err != nil {
		return reply{}, err
	}
	p.Summary, p.Agreements = workbench.Summarize(c, queries, judgments), workbench.Agreements(judgments)
	mine, all := map[string]int{}, map[string]int{} // judgments by query
	for _, j := range judgments {
		all[j.Query]++
		if j.Judge == judgeOf(r) {
			mine[j.Query]++
		}
	}
	start := 0 // of the list
	for _, q := range queries {
		row := caseQuery{CaseQuery: q, Mine: mine[q.ID], Judged: all[q.ID], Judge: session{Case: c.ID, Query: q.ID}.link(),
			Edit: link(caseLink(c.ID)+"/query", "query", q.ID)}
		if p.Start == "" || row.Judged == 0 && p.List[start].Judged > 0 {
			p.Start, start = row.Judge, len(p.List)
		}
		p.List = append(p.List, row)
	}
	if p.Jobs, err = h.judgeJobs(r.Context(), c.ID); err != nil {
		return reply{}, err
	}
	return reply{Template: "judging-case", Page: look.Page{Title: c.Name, Path: caseLink(c.ID), Section: "/judging"},
		Data: p}, nil
}

// judgeJobs returns the open jobs of models on a case, and the last that is done.
func (h *Handler) judgeJobs(ctx context.Context, id int64) (out []judgeJob, err error) {
	jobs, err := h.cfg.Store.Jobs(ctx, 100)
	if err != nil {
		return nil, err
	}
	for _, job := range jobs {
		if task, err := workbench.TaskOf[workbench.JudgeTask](job); err != nil || task.Case != id {
			continue
		}
		x := judgeJob{Request: job}
		_ = json.Unmarshal([]byte(job.Result), &x.Done) // empty until it is done
		if out = append(out, x); !job.DoneAt.IsZero() {
			break
		}
	}
	return out, nil
}

// changeCase describes or removes a case.
func (h *Handler) changeCase(r *http.Request, c catalog.Case) (_ reply, err error) {
	by := admin.User(r.Context())
	switch r.FormValue("do") {
	case "remove":
		return reply{Goto: "/judging"}, h.cfg.Store.DropCase(r.Context(), c.ID, by)
	case "describe":
		c.Description = strings.TrimSpace(r.FormValue("description"))
		_, err = h.cfg.Store.PutCase(r.Context(), c, by)
		return reply{Goto: caseLink(c.ID)}, err
	}
	return reply{}, invalid("do must be describe or remove")
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
func (h *Handler) queryOf(ctx context.Context, c catalog.Case, id string) (catalog.CaseQuery, error) {
	queries, err := h.cfg.Store.Queries(ctx, c.ID)
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
func (h *Handler) editQuery(r *http.Request, c catalog.Case) (_ reply, err error) {
	p := queryPage{Case: c, New: r.FormValue("query") == ""}
	if !p.New {
		p.Query, err = h.queryOf(r.Context(), c, r.FormValue("query"))
	}
	return p.reply(), err
}

func (p queryPage) reply() reply {
	title := "New query"
	if !p.New {
		title = p.Query.Text
	}
	out := reply{Template: "judging-query", Page: look.Page{Title: title, Section: "/judging"}, Data: p}
	if p.Conflict != nil {
		out.Status = http.StatusConflict
	}
	return out
}

// putQuery stores or removes a query. Who was overtaken by somebody else keeps what
// they typed.
func (h *Handler) putQuery(r *http.Request, c catalog.Case) (_ reply, err error) {
	by, id := admin.User(r.Context()), r.FormValue("query")
	if r.FormValue("do") == "remove" {
		return reply{Goto: caseLink(c.ID)}, h.cfg.Store.DropQuery(r.Context(), c.ID, id, by)
	}
	p := queryPage{Case: c, New: id == "", Query: catalog.CaseQuery{ID: id, Text: strings.TrimSpace(r.FormValue("text")),
		Kind: strings.TrimSpace(r.FormValue("kind")), Need: strings.TrimSpace(r.FormValue("need")),
		Note: strings.TrimSpace(r.FormValue("note")), Revision: number(r, "revision", 0)}}
	if p.Query.Text == "" {
		return reply{}, invalid("a query needs a text").in("text")
	}
	if p.New {
		if p.Query.ID, err = h.freeID(r.Context(), c); err != nil {
			return reply{}, err
		}
	}
	err = h.cfg.Store.PutQueries(r.Context(), c.ID, []catalog.CaseQuery{p.Query}, by)
	if conflict, ok := errors.AsType[*catalog.ConflictError](err); ok && !p.New {
		p.Theirs, err = h.queryOf(r.Context(), c, p.Query.ID)
		p.Conflict, p.Query.Revision = conflict, p.Theirs.Revision
		if errors.Is(err, catalog.ErrNotFound) { // they removed it: saving adds it again
			p.Theirs, err = catalog.CaseQuery{}, nil
		}
		return p.reply(), err
	}
	return reply{Goto: caseLink(c.ID)}, err
}

// freeID is the id of a new query.
func (h *Handler) freeID(ctx context.Context, c catalog.Case) (string, error) {
	queries, err := h.cfg.Store.Queries(ctx, c.ID)
	for n := len(queries) + 1; ; n++ {
		id := "q" + strconv.Itoa(n)
		if !slices.ContainsFunc(queries, func(q catalog.CaseQuery) bool { return q.ID == id }) {
			return id, err
		}
	}
}

// openPool goes to the query of the lab in the first case that has it, or asks which
// case is to have it.
func (h *Handler) openPool(r *http.Request) (reply, error) {
	text := strings.TrimSpace(r.FormValue("q"))
	if text == "" {
		return reply{}, invalid("which query is to be judged?")
	}
	cases, err := h.cfg.Store.Cases(r.Context())
	if err != nil {
		return reply{}, err
	}
	s := session{Profiles: slices.DeleteFunc(append([]string{r.FormValue("a"), r.FormValue("b")},
		r.Form["profile"]...), func(name string) bool {
		return name == "" || name == edited
	})}
	for _, c := range cases {
		queries, err := h.cfg.Store.Queries(r.Context(), c.ID)
		if err != nil {
			return reply{}, err
		}
		for _, q := range queries {
			if strings.EqualFold(strings.TrimSpace(q.Text), text) {
				s.Case, s.Query = c.ID, q.ID
				return reply{Goto: s.link()}, nil
			}
		}
	}
	return reply{Template: "judging-pool", Page: look.Page{Title: "Judge a query", Section: "/judging"},
		Data: map[string]any{"Query": text, "Cases": cases, "Profiles": s.Profiles,
			"Edited": slices.Contains([]string{r.FormValue("a"), r.FormValue("b")}, edited)}}, nil
}

// addToPool adds a query to a case, which may be new, and goes on to judge it.
func (h *Handler) addToPool(r *http.Request) (reply, error) {
	text, name := strings.TrimSpace(r.FormValue("q")), strings.TrimSpace(r.FormValue("name"))
	if text == "" {
		return reply{}, invalid("a query needs a text")
	}
	var c catalog.Case
	var err error
	if name != "" {
		c, err = h.newCase(r, name, "")
	} else {
		r.SetPathValue("id", r.FormValue("case"))
		c, err = h.caseOf(r)
	}
	if err != nil {
		return reply{}, err
	}
	q := catalog.CaseQuery{Text: text, Need: strings.TrimSpace(r.FormValue("need"))}
	if q.ID, err = h.freeID(r.Context(), c); err == nil {
		err = h.cfg.Store.PutQueries(r.Context(), c.ID, []catalog.CaseQuery{q}, admin.User(r.Context()))
	}
	return reply{Goto: session{Case: c.ID, Query: q.ID, Profiles: r.Form["profile"]}.link()}, err
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
var pooled = []string{revision.Published, revision.Configured, revision.Keyword, revision.Vector}

// link is the address of a session, with more parameters as names and values.
func (s session) link(more ...string) string {
	v := url.Values{"query": {s.Query}, "profile": s.Profiles}
	if s.Depth != 0 {
		v.Set("n", strconv.Itoa(s.Depth))
	}
	if s.Fresh {
		v.Set("fresh", "1")
	}
	for i := 0; i < len(more); i += 2 {
		v.Set(more[i], more[i+1])
	}
	return caseLink(s.Case) + "/judge?" + v.Encode()
}
