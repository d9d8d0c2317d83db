package judge

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"almanac/api/dashboard/form"
	"almanac/catalog"
	"almanac/retrieval"
	"almanac/retrieval/workbench"
)

// grades are what may be said of a document, the best first.
var grades = []struct {
	Grade int
	Name  string
}{{3, "the answer, or the very thing"}, {2, "clearly useful"}, {1, "related"}, {0, "not relevant"}}

// judgePage is what a judge sees.
type judgePage struct {
	Case    catalog.Case
	Query   catalog.CaseQuery
	Session session
	Choices []string // profiles
	Chosen  []string // whose results are in the pool
	Depth   int
	Faults  []string
	Grades  any
	List    []judged
	At      *judged // in focus; nil: all are judged
	Done    int     // of the list
	Others  int     // of the list that others judged, and who looks at it did not
	Unseen  string  // address of what nobody judged
	Found   []judged
	Asked   string // what was searched for
	Next    string // address of the next query; "": this is the last
	Skip    string // address of the next document
	Undo    bool   // there is a grade to take back
	Link    string // of this session
	Self    string // address of the case
}

// judged is a document with what its judge said, and then what others did.
type judged struct {
	workbench.Document
	Number int // from 1 in the list; 0: it is not in it
	Page   string
	Date   time.Time
	Mine   *catalog.Judgment
	Others []catalog.Judgment // empty until its judge has graded it
	Link   string
}

// sessionOf reads a session from a form.
func sessionOf(r *http.Request, c catalog.Case) session {
	_ = r.ParseForm() // what cannot be read is not there
	s := session{Case: c.ID, Query: r.Form.Get("query"), Profiles: r.Form["profile"],
		Fresh: r.Form.Get("fresh") != ""}
	if n := form.Number(r, "n", workbench.Depth); n != workbench.Depth {
		s.Depth = min(max(1, n), 100)
	}
	return s
}

// judge shows one document of a pool after the other.
func (h handler) judge(r *http.Request, c catalog.Case) (_ form.Reply, err error) {
	s := sessionOf(r, c)
	p := judgePage{Case: c, Session: s, Depth: cmp.Or(s.Depth, workbench.Depth), Grades: grades, Link: s.link(),
		Unseen: session{c.ID, s.Query, s.Profiles, s.Depth, true}.link(),
		Asked:  strings.TrimSpace(r.Form.Get("find")), Self: form.CasePath(c.ID)}
	if p.Query, err = h.queryOf(r.Context(), c, s.Query); err != nil {
		return form.Reply{}, err
	}
	if err = h.fillPool(r, &p); err == nil {
		err = h.focus(r, &p)
	}
	if err == nil && p.Asked != "" {
		err = h.findMore(r, &p)
	}
	if err == nil {
		err = h.nextQuery(r.Context(), &p)
	}
	return form.Reply{Template: "judge", Title: p.Query.Text, Data: p}, err
}

// fillPool lists the documents.
func (h handler) fillPool(r *http.Request, p *judgePage) (err error) {
	if p.Choices, err = h.Names(r.Context()); err != nil {
		return err
	}
	if p.Chosen = p.Session.Profiles; len(p.Chosen) == 0 {
		p.Chosen = pooled
	}
	me := judgeOf(r)
	pool, err := h.Bench.Pool(r.Context(), p.Case, p.Query, p.Chosen, p.Depth, me)
	if err != nil {
		return err
	}
	p.Faults = pool.Faults
	of, err := h.judgmentsOf(r.Context(), p.Case, p.Query.ID)
	if err != nil {
		return err
	}
	for _, d := range pool.Documents {
		x := h.judgedBy(d, me, of[d.Target])
		if p.Session.Fresh && x.Mine == nil && len(of[d.Target]) > 0 {
			continue
		}
		if x.Mine == nil && len(of[d.Target]) > 0 {
			p.Others++
		}
		x.Number, x.Link = len(p.List)+1, p.Session.link("at", d.Target)
		if x.Mine != nil {
			p.Done, p.Undo = p.Done+1, true
		}
		p.List = append(p.List, x)
	}
	return nil
}

// judgmentsOf returns the judgments of a query by target.
func (h handler) judgmentsOf(ctx context.Context, c catalog.Case, query string) (map[string][]catalog.Judgment, error) {
	judgments, err := h.Store.Judgments(ctx, c.ID)
	of := map[string][]catalog.Judgment{}
	for _, j := range judgments {
		if j.Query == query {
			of[j.Target] = append(of[j.Target], j)
		}
	}
	return of, err
}

// judgedBy is what a judge sees of a document.
func (h handler) judgedBy(d workbench.Document, me string, judgments []catalog.Judgment) judged {
	x := judged{Document: d, Date: cmp.Or(d.Record.UpdatedAt, d.Record.CreatedAt, d.Record.StartsAt)}
	if h.Page != nil {
		x.Page = h.Page(d.Record)
	}
	for _, j := range judgments {
		if j.Judge == me {
			x.Mine = &j
		} else {
			x.Others = append(x.Others, j)
		}
	}
	if x.Mine == nil {
		x.Others = nil
	}
	return x
}

// focus chooses the document to judge: the one that is named, else the next one
// without a grade.
func (h handler) focus(r *http.Request, p *judgePage) error {
	at, after := r.Form.Get("at"), r.Form.Get("after")
	place := func(target string) int {
		return slices.IndexFunc(p.List, func(x judged) bool { return x.Target == target })
	}
	switch i := place(at); {
	case at != "" && i >= 0:
		p.At = &p.List[i]
	case at != "": // found by hand
		record, err := workbench.Resolve(r.Context(), h.Store, at)
		if err != nil {
			return err
		}
		record.Body = ""
		of, err := h.judgmentsOf(r.Context(), p.Case, p.Query.ID)
		if err != nil {
			return err
		}
		x := h.judgedBy(workbench.Document{Target: at, Record: record}, judgeOf(r), of[at])
		p.At = &x
	default:
		from := place(after) + 1
		for i := range p.List {
			if x := &p.List[(from+i)%len(p.List)]; x.Mine == nil {
				p.At = x
				break
			}
		}
	}
	if p.At == nil {
		return nil
	}
	p.Skip = p.Session.link("after", p.At.Target)
	return h.Bench.Read(r.Context(), &p.At.Document)
}

// findMore searches for what no list found.
func (h handler) findMore(r *http.Request, p *judgePage) error {
	found, err := h.Bench.Find(r.Context(), p.Case, p.Asked)
	if errors.Is(err, retrieval.ErrBadQuery) {
		return form.Invalid(err.Error())
	}
	if err != nil {
		return err
	}
	of, err := h.judgmentsOf(r.Context(), p.Case, p.Query.ID)
	if err != nil {
		return err
	}
	for _, d := range found {
		x := h.judgedBy(d, judgeOf(r), of[d.Target])
		x.Link = p.Session.link("at", d.Target)
		p.Found = append(p.Found, x)
	}
	return nil
}

// nextQuery finds the query after this one.
func (h handler) nextQuery(ctx context.Context, p *judgePage) error {
	queries, err := h.Store.Queries(ctx, p.Case.ID)
	if err != nil {
		return err
	}
	at := slices.IndexFunc(queries, func(q catalog.CaseQuery) bool { return q.ID == p.Query.ID })
	if at+1 < len(queries) {
		s := p.Session
		s.Query = queries[at+1].ID
		p.Next = s.link()
	}
	return nil
}

// grade stores what a judge says of a document and goes on to the next, or takes the
// last grade back and returns to its document.
func (h handler) grade(r *http.Request, c catalog.Case) (_ form.Reply, err error) {
	s := sessionOf(r, c)
	if _, err := h.queryOf(r.Context(), c, s.Query); err != nil {
		return form.Reply{}, err
	}
	if r.Form.Get("do") == "undo" {
		return h.takeBack(r, c, s)
	}
	target, grade := r.Form.Get("target"), form.Number(r, "grade", -1)
	r.Form.Set("at", target) // what the page shows if this fails
	if grade < 0 || grade > workbench.MaxGrade {
		return form.Reply{}, form.Invalid(fmt.Sprintf("a grade is 0 to %d", workbench.MaxGrade))
	}
	if _, err := workbench.Resolve(r.Context(), h.Store, target); err != nil {
		return form.Reply{}, err
	}
	err = h.Store.PutJudgments(r.Context(), c.ID, []catalog.Judgment{{Query: s.Query, Target: target,
		Judge: judgeOf(r), Grade: grade, Note: strings.TrimSpace(r.Form.Get("note"))}})
	return form.Reply{Goto: s.link("after", target)}, err
}

// takeBack withdraws the newest grade that a judge gave for a query.
func (h handler) takeBack(r *http.Request, c catalog.Case, s session) (form.Reply, error) {
	of, err := h.judgmentsOf(r.Context(), c, s.Query)
	if err != nil {
		return form.Reply{}, err
	}
	var last catalog.Judgment
	for _, judgments := range of {
		for _, j := range judgments {
			if j.Judge == judgeOf(r) && j.At.After(last.At) {
				last = j
			}
		}
	}
	if last.Target == "" {
		return form.Reply{}, form.Invalid("there is no grade to take back")
	}
	back := last.Target
	last.Grade = -1
	return form.Reply{Goto: s.link("at", back)}, h.Store.PutJudgments(r.Context(), c.ID, []catalog.Judgment{last})
}
