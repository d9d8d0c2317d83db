package judging

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"almanac/catalog"
	"almanac/retrieval/eval"
)

// Kind is the kind of the jobs that Do does.
const Kind = "judge"

// Argument is what a job lets a model judge.
type Argument struct {
	Case     int64    `json:"case"`
	Profiles []string `json:"profiles,omitempty"` // whose pools; none: only what people judged, to compare
	Depth    int      `json:"depth,omitempty"`    // of each list; 0: Depth
}

// Result is what a job did.
type Result struct {
	Graded int `json:"graded"`
	Unread int `json:"unread"` // answers that are no grades
	Known  int `json:"known"`  // graded by the model before
}

// Executor does jobs.
type Executor struct {
	Pooler
	Model *Model
}

// atOnce is how many documents a model is asked about at the same time.
const atOnce = 4

// pair is a document to grade for a query.
type pair struct {
	query    catalog.CaseQuery
	document Document
}

// Do asks the model for what it has not graded. Each grade is stored as it comes,
// so that a job that begins again continues. The result is a Result.
func (x Executor) Do(ctx context.Context, r catalog.Request, progress func(done, total int)) (any, error) {
	var a Argument
	if err := json.Unmarshal([]byte(r.Argument), &a); err != nil {
		return nil, fmt.Errorf("judging: argument of job %d: %w", r.ID, err)
	}
	if x.Model == nil {
		return nil, errors.New("there is no model to judge: judge.url is not set")
	}
	judge := eval.ModelJudge + x.Model.Name()
	pairs, known, err := x.pairs(ctx, a, judge)
	if err != nil {
		return nil, err
	}
	out := Result{Known: known}
	done := 0
	var mu sync.Mutex // of out and done
	g, working := errgroup.WithContext(ctx)
	g.SetLimit(atOnce)
	for _, p := range pairs {
		if working.Err() != nil {
			break
		}
		g.Go(func() error {
			grade, err := 0, x.Read(working, &p.document)
			if err == nil {
				grade, err = x.Model.Grade(working, p.query, p.document.Record.Title, p.document.Text)
			}
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil:
				out.Graded++
				err = x.Store.PutJudgments(working, a.Case, []catalog.Judgment{
					{Query: p.query.ID, Target: p.document.Target, Judge: judge, Grade: grade}})
			case errors.Is(err, ErrUnread):
				out.Unread++
				err = nil
			case gone(err):
				err = nil
			}
			done++
			progress(done, len(pairs))
			return err
		})
	}
	err = g.Wait()
	return out, errors.Join(err, ctx.Err())
}

// pairs lists what is to be graded, and counts what the judge graded before.
func (x Executor) pairs(ctx context.Context, a Argument, judge string) (pairs []pair, known int, err error) {
	cases, err := x.Store.Cases(ctx)
	if err != nil {
		return nil, 0, err
	}
	at := slices.IndexFunc(cases, func(c catalog.Case) bool { return c.ID == a.Case })
	if at < 0 {
		return nil, 0, fmt.Errorf("case %d: %w", a.Case, catalog.ErrNotFound)
	}
	queries, err := x.Store.Queries(ctx, a.Case)
	if err != nil {
		return nil, 0, err
	}
	judgments, err := x.Store.Judgments(ctx, a.Case)
	if err != nil {
		return nil, 0, err
	}
	graded, byPeople := map[[2]string]bool{}, map[[2]string]bool{}
	for _, j := range judgments {
		of := [2]string{j.Query, j.Target}
		graded[of] = graded[of] || j.Judge == judge
		byPeople[of] = byPeople[of] || eval.ByPeople(j.Judge)
	}
	depth := a.Depth
	if depth == 0 {
		depth = Depth
	}
	for _, q := range queries {
		pool, err := x.Pool(ctx, cases[at], q, a.Profiles, depth, judge)
		if err != nil {
			return nil, 0, err
		}
		for _, d := range pool.Documents {
			of := [2]string{q.ID, d.Target}
			switch {
			case len(a.Profiles) == 0 && !byPeople[of]:
			case graded[of]:
				known++
			default:
				pairs = append(pairs, pair{q, d})
			}
		}
	}
	return pairs, known, nil
}
