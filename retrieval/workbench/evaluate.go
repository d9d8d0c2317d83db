package workbench

import (
	"context"
	"errors"
	"strings"
	"time"

	"almanac/catalog"
	"almanac/catalog/sqlstore"
	"almanac/retrieval/corpus"
	"almanac/retrieval/eval"
	"almanac/retrieval/ranking"
)

// EvalTask is profiles to measure on a case.
type EvalTask struct {
	Case     int64    `json:"case"`
	Judges   []string `json:"judges,omitempty"` // whose judgments count; none: all people
	Profiles []string `json:"profiles"`         // see ranking.Source.Named; others are compared with the first
}

// Kind implements Task.
func (EvalTask) Kind() string { return "eval" }

// Runs is what an EvalTask stored: a run for each profile, in their order.
type Runs struct {
	Runs []int64 `json:"runs"`
}

// evaluate measures each profile of a task over the index that serves, and stores
// the runs if all could be measured.
func (x Runner) evaluate(ctx context.Context, t EvalTask, by string, progress func(done, total int)) (out Runs,
	err error) {
	runs, err := x.measure(ctx, t, progress)
	if err != nil {
		return out, err
	}
	now := time.Now()
	for _, run := range runs {
		run.At, run.By = now, by
		id, err := Save(ctx, x.Store, run)
		if err != nil {
			return out, err
		}
		out.Runs = append(out.Runs, id)
	}
	return out, nil
}

// measure runs the queries of a case with each profile.
func (x Runner) measure(ctx context.Context, a EvalTask, progress func(done, total int)) ([]Run, error) {
	if len(a.Profiles) == 0 {
		return nil, errors.New("experiment: no profile is named")
	}
	c, collection, err := Collection(ctx, x.Store, a.Case, a.Judges)
	if err != nil {
		return nil, err
	}
	tried := make([]ranking.Named, len(a.Profiles))
	for i, name := range a.Profiles {
		if tried[i], err = x.Named(ctx, name); err != nil {
			return nil, err
		}
	}
	live, _, err := ranking.InForce(ctx, x.Store)
	if err != nil {
		return nil, err
	}
	generation, indexed, err := x.Index.Indexed()
	if err != nil {
		return nil, err
	}
	o, err := Options(ctx, x.Store, collection, indexed)
	if err != nil {
		return nil, err
	}
	var runs []Run
	for i, t := range tried {
		o.Profile, o.Relevance = t.Name, &t.Relevance
		if t.Name == ranking.Live {
			o.Profile = live.Profile()
		}
		o.Progress = func(done, total int) { progress(i*total+done, len(tried)*total) }
		report, err := eval.Run(ctx, x.Index, collection, o)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			report.CompareTo(runs[0].Report)
		}
		name := t.Name
		if n, saved := ranking.ParseName(name); saved {
			name = n.Profile
		}
		runs = append(runs, Run{Report: report, Evaluation: catalog.Evaluation{Case: c.ID, Profile: name,
			Revision: t.Revision, Judges: strings.Join(a.Judges, ","), Generation: generation,
			Model: x.Index.Status(ctx).Model, Version: x.Version}})
	}
	if now, _, err := x.Index.Indexed(); err != nil || now != generation {
		return nil, errors.New("experiment: another index began to serve meanwhile: run it again")
	}
	return runs, nil
}

// Options says how the records of an index are judged: by their names, and copies
// as the built-in profile collapses them, so that all profiles are measured alike.
func Options(ctx context.Context, store *sqlstore.Store, c eval.Collection, indexed *corpus.Corpus) (o eval.Options,
	err error) {
	if o.Names, err = Names(ctx, store, c); err != nil {
		return o, err
	}
	o.Same, err = copiesOf(ctx, o.Names, indexed)
	return o, err
}

// copiesOf says which of some documents are copies.
func copiesOf(ctx context.Context, names map[int64]string, indexed *corpus.Corpus) (eval.Same, error) {
	standard, err := ranking.Load(ranking.DefaultName)
	if err != nil {
		return nil, err
	}
	return eval.Copies(ctx, names, indexed, standard.Collapse)
}
