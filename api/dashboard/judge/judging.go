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
	Self    string // address of the case

	judge     string                        // who looks at it
	judgments map[string][]catalog.Judgment // of the query, by target
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
	queries, err := h.Store.Queries(r.Context(), c.ID)
	if err != nil {
		return form.Reply{}, err
	}
	at := slices.IndexFunc(queries, func(q catalog.CaseQuery) bool { return q.ID == s.Query })
	if at < 0 {
		return form.Reply{}, fmt.Errorf("query %q: %w", s.Query, catalog.ErrNotFound)
	}
	p := judgePage{Case: c, Query: queries[at], Session: s, Depth: cmp.Or(s.Depth, workbench.Depth), Grades: grades,
		Unseen: session{c.ID, s.Query, s.Profiles, s.Depth, true}.link(), judge: judgeOf(r),
		Asked: strings.TrimSpace(r.Form.Get("find")), Self: form.CasePath(c.ID)}
	if at+1 < len(queries) {
		s.Query = queries[at+1].ID
		p.Next = s.link()
	}
	if p.judgments, err = h.judgmentsOf(r.Context(), c, p.Query.ID); err == nil {
		err = h.fillPool(r.Context(), &p)
	}
	if err == nil {
		err = h.focus(r, &p)
	}
	if err == nil && p.Asked != "" {
		err = h.findMore(r.Context(), &p)
	}
	return form.Reply{Template: "judge", Title: p.Query.Text, Data: p}, err
}

// fillPool lists the documents.
func (h handler) fillPool(ctx context.Context, p *judgePage) (err error) {
	if p.Choices, err = h.Names(ctx); err != nil {
		return err
	}
	if p.Chosen = p.Session.Profiles; len(p.Chosen) == 0 {
		p.Chosen = pooled
	}
	pool, err := h.Bench.Pool(ctx, p.Case, p.Query, p.Chosen, p.Depth, p.judge)
	if err != nil {
		return err
	}
	p.Faults = pool.Faults
	for _, d := range pool.Documents {
		x := h.judgedBy(p, d)
		byOthers := x.Mine == nil && len(p.judgments[d.Target]) > 0
		if p.Session.Fresh && byOthers {
			continue
		}
		if byOthers {
			p.Others++
		}
		if x.Mine != nil {
			p.Done++
		}
		x.Number = len(p.List) + 1
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
func (h handler) judgedBy(p *judgePage, d workbench.Document) judged {
	x := judged{Document: d, Date: cmp.Or(d.Record.UpdatedAt, d.Record.CreatedAt, d.Record.StartsAt),
		Link: p.Session.link("at", d.Target)}
	if h.Page != nil {
		x.Page = h.Page(d.Record)
	}
	for _, j := range p.judgments[d.Target] {
		if j.Judge == p.judge {
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
		x := h.judgedBy(p, workbench.Document{Target: at, Record: record})
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
func (h handler) findMore(ctx context.Context, p *judgePage) error {
	found, err := h.Bench.Find(ctx, p.Case, p.Asked)
	if errors.Is(err, retrieval.ErrBadQuery) {
		return form.Invalid(err.Error())
	}
	for _, d := range found {
		p.Found = append(p.Found, h.judgedBy(p, d))
	}
	return err
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
