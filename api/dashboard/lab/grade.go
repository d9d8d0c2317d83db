package lab

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"almanac/api/admin"
	"almanac/api/dashboard/form"
	"almanac/catalog"
	"almanac/retrieval/workbench"
)

// judging is the case for which the lab grades.
type judging struct {
	Case    catalog.Case       // ID 0: there is none
	Query   *catalog.CaseQuery // nil: the case does not have it
	Chosen  bool               // somebody chose the case
	Grades  map[string]int     // of people, by target
	Mine    map[string]int     // of who asks
	Targets map[string]bool    // what the case judges for any query
}

// named is the case as an address has it; "" for the one that the lab takes by itself.
func (j judging) named() string {
	if !j.Chosen {
		return ""
	}
	return strconv.FormatInt(j.Case.ID, 10)
}

// judging chooses the case: the one that is named, else the first that judges the query,
// else the first that has it, else the first.
func (h handler) judging(ctx context.Context, cases []catalog.Case, chosen int64, query string) (best judging,
	err error) {
	rank := 0
	for _, c := range cases {
		queries, err := h.Store.Queries(ctx, c.ID)
		if err != nil {
			return best, err
		}
		j := judging{Case: c, Query: workbench.QueryNamed(queries, query), Chosen: c.ID == chosen}
		of := 1
		if j.Query != nil {
			of = 2
		}
		if j.Chosen {
			of = 4
		}
		if of < rank || of == rank && of != 2 {
			continue
		}
		collection, err := workbench.Judged(ctx, h.Store, c)
		if err != nil {
			return best, err
		}
		j.Targets = collection.Documents()
		if j.Query != nil {
			j.Grades = collection.Judgments[j.Query.ID]
		}
		if len(j.Grades) > 0 {
			of = max(of, 3)
		}
		if of > rank {
			best, rank = j, of
		}
	}
	if best.Query == nil {
		return best, nil
	}
	mine, err := workbench.Judged(ctx, h.Store, best.Case, workbench.PersonJudge+admin.User(ctx))
	best.Mine = mine.Judgments[best.Query.ID]
	return best, err
}

// buttons are the grades that can be given to a target; nil: there is no case to grade for.
// The button of the grade that one gave takes it back.
func (j judging) buttons(target string) (out []gradeButton) {
	grade, judged := j.Grades[target]
	mine, graded := j.Mine[target]
	for g := 0; g <= workbench.MaxGrade && j.Case.ID != 0; g++ {
		b := gradeButton{g, g, judged && g == grade}
		if graded && g == mine {
			b.Sends = withdrawn
		}
		out = append(out, b)
	}
	return out
}

// withdrawn is the grade that takes one back.
const withdrawn = -1

// grade stores "GRADE TARGET" for the query of the page, which the case gets if it does
// not have it. It is the grade that is wanted, -1 for none: a form that is sent twice
// changes nothing.
func (h handler) grade(r *http.Request, p *labPage, graded string) (err error) {
	number, target, _ := strings.Cut(graded, " ")
	grade, err := strconv.Atoi(number)
	if err != nil || grade < withdrawn || grade > workbench.MaxGrade {
		return form.Invalid(fmt.Sprintf("a grade is 0 to %d", workbench.MaxGrade))
	}
	ctx, j, by := r.Context(), &p.Judging, admin.User(r.Context())
	if j.Case.ID == 0 || p.Query == "" {
		return form.Invalid("there is no case to grade for: make one under Cases")
	}
	if _, err := workbench.Resolve(ctx, h.Store, target); err != nil {
		return err
	}
	if j.Query == nil {
		q := catalog.CaseQuery{Text: p.Query}
		queries, err := h.Store.Queries(ctx, j.Case.ID)
		if err == nil {
			q.ID = workbench.FreeID(queries)
			if err = workbench.CheckQuery(q); err == nil {
				err = h.Store.PutQueries(ctx, j.Case.ID, []catalog.CaseQuery{q}, by)
			}
		}
		if err != nil {
			return err
		}
		j.Query = &q
	}
	mine := catalog.Judgment{Query: j.Query.ID, Target: target, Judge: workbench.PersonJudge + by, Grade: grade}
	judgments, err := h.Store.Judgments(ctx, j.Case.ID)
	if err != nil {
		return err
	}
	for _, was := range judgments {
		if was.Query == mine.Query && was.Target == target && was.Judge == mine.Judge {
			mine.Note = was.Note
		}
	}
	if err := h.Store.PutJudgments(ctx, j.Case.ID, []catalog.Judgment{mine}); err != nil {
		return err
	}
	chosen := j.Chosen
	*j, err = h.judging(ctx, p.Cases, j.Case.ID, p.Query)
	j.Chosen = chosen
	return err
}

// anchorOf names the row that was graded, on the side where it was.
func anchorOf(graded string) string {
	return rowID("a", strings.TrimSpace(strings.TrimLeft(graded, "-0123456789")))
}

// rowID is the id of a row.
func rowID(side, target string) string {
	return side + "-" + strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, target)
}

// ID is that of the row in the page.
func (row labRow) ID() string { return rowID(row.Side.Letter, row.Target) }
