package workbench

import (
	"cmp"
	"context"
	"errors"
	"sync"

	"golang.org/x/sync/errgroup"

	"almanac/catalog"
)

// JudgeTask is what a model is to judge.
type JudgeTask struct {
	Case     int64    `json:"case"`
	Profiles []string `json:"profiles,omitempty"` // whose pools; none: only what people judged, to compare
	Depth    int      `json:"depth,omitempty"`    // of each list; 0: Depth
}

// Kind implements Task.
func (JudgeTask) Kind() string { return "judge" }

// Graded is what a JudgeTask did.
type Graded struct {
	Graded int `json:"graded"`
	Unread int `json:"unread"` // answers that are no grades
	Known  int `json:"known"`  // graded by the model before
}

// atOnce is how many documents a model is asked about at the same time.
const atOnce = 4

// pair is a document to grade for a query.
type pair struct {
	query    catalog.CaseQuery
	document Document
}

// judge asks the model for what it has not graded. Each grade is stored as it comes,
// so that a job that begins again continues.
func (x Runner) judge(ctx context.Context, a JudgeTask, _ string, progress func(done, total int)) (out Graded,
	err error) {
	if x.Model == nil {
		return out, errors.New("there is no model to judge: judge.url is not set")
	}
	pool := &Bench{Source: x.Source, Index: x.Index}
	judge := ModelJudge + x.Model.Name()
	pairs, known, err := pool.pairs(ctx, a, judge)
	if err != nil {
		return out, err
	}
	out.Known = known
	done := 0
	var mu sync.Mutex // of out and done
	g, working := errgroup.WithContext(ctx)
	g.SetLimit(atOnce)
	for _, p := range pairs {
		if working.Err() != nil {
			break
		}
		g.Go(func() error {
			grade, err := 0, pool.Read(working, &p.document)
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
func (b *Bench) pairs(ctx context.Context, a JudgeTask, judge string) (pairs []pair, known int, err error) {
	c, err := Case(ctx, b.Store, a.Case)
	if err != nil {
		return nil, 0, err
	}
	queries, judgments, err := Content(ctx, b.Store, a.Case)
	if err != nil {
		return nil, 0, err
	}
	graded, byPeople := map[[2]string]bool{}, map[[2]string]bool{}
	for _, j := range judgments {
		of := [2]string{j.Query, j.Target}
		graded[of] = graded[of] || j.Judge == judge
		byPeople[of] = byPeople[of] || ByPeople(j.Judge)
	}
	for _, q := range queries {
		pool, err := b.Pool(ctx, c, q, a.Profiles, cmp.Or(a.Depth, Depth), judge)
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
