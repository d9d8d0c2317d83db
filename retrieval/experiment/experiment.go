// Package experiment measures profiles over the cases of the catalog and keeps
// the results: what a job, a page and the command line have in common. It
// compares runs that were stored at any time, and asks for runs on schedule.
package experiment

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"almanac/catalog"
	"almanac/retrieval"
	"almanac/retrieval/corpus"
	"almanac/retrieval/eval"
	"almanac/retrieval/profile"
	"almanac/retrieval/revision"
)

// Kind is the kind of the jobs that Do does.
const Kind = "eval"

// Argument is what a job measures.
type Argument struct {
	Case     int64    `json:"case"`
	Judges   []string `json:"judges,omitempty"` // whose judgments count; none: all people
	Profiles []string `json:"profiles"`         // see revision.Source.Named; others are compared with the first
}

// Result is what a job stored: an evaluation for each profile, in their order.
type Result struct {
	Runs []int64 `json:"runs"`
}

// Index is the index that serves, as profiles can be measured and fitted on it.
type Index interface {
	retrieval.Searcher
	eval.Signaler
	// Indexed returns the generation that serves and its corpus. ErrNotReady.
	Indexed() (generation int64, indexed *corpus.Corpus, err error)
}

// Runner does jobs.
type Runner struct {
	Store     catalog.Store
	Index     Index
	Revisions revision.Source
	Version   string // of the program
}

// Do measures each profile of a job over the index that serves, and stores the
// runs if all could be measured. The result is a Result.
func (x Runner) Do(ctx context.Context, r catalog.Request, progress func(done, total int)) (any, error) {
	var a Argument
	if err := json.Unmarshal([]byte(r.Argument), &a); err != nil {
		return nil, fmt.Errorf("experiment: argument of job %d: %w", r.ID, err)
	}
	runs, err := x.measure(ctx, a, progress)
	if err != nil {
		return nil, err
	}
	var out Result
	now := time.Now()
	for _, run := range runs {
		run.At, run.By = now, r.By
		id, err := Save(ctx, x.Store, run)
		if err != nil {
			return nil, err
		}
		out.Runs = append(out.Runs, id)
	}
	return out, nil
}

// measure runs the queries of a case with each profile.
func (x Runner) measure(ctx context.Context, a Argument, progress func(done, total int)) ([]Run, error) {
	if len(a.Profiles) == 0 {
		return nil, errors.New("experiment: no profile is named")
	}
	c, collection, err := Collection(ctx, x.Store, a.Case, a.Judges)
	if err != nil {
		return nil, err
	}
	tried := make([]revision.Named, len(a.Profiles))
	for i, name := range a.Profiles {
		if tried[i], err = x.Revisions.Named(ctx, name); err != nil {
			return nil, err
		}
	}
	published, _, err := inForce(ctx, x.Store)
	if err != nil {
		return nil, err
	}
	generation, indexed, err := x.Index.Indexed()
	if err != nil {
		return nil, err
	}
	o, err := options(ctx, x.Store, collection, indexed)
	if err != nil {
		return nil, err
	}
	var runs []Run
	for i, t := range tried {
		o.Profile, o.Relevance = t.Name, &t.Relevance
		if t.Name == revision.Published {
			o.Profile = published
		}
		o.Progress = func(done, total int) { progress(i*total+done, len(tried)*total) }
		report, err := eval.Run(ctx, x.Index, collection, o)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			report.CompareTo(runs[0].Report)
		}
		name, _, _ := strings.Cut(t.Name, "@")
		runs = append(runs, Run{Report: report, Evaluation: catalog.Evaluation{Case: c.ID, Profile: name,
			Revision: t.Revision, Judges: strings.Join(a.Judges, ","), Generation: generation,
			Model: x.Index.Status(ctx).Model, Version: x.Version}})
	}
	if now, _, err := x.Index.Indexed(); err != nil || now != generation {
		return nil, errors.New("experiment: another index began to serve meanwhile: run it again")
	}
	return runs, nil
}

// options says how the records of an index are judged: by their names, and copies
// as the built-in profile collapses them, so that all profiles are measured alike.
func options(ctx context.Context, store catalog.Reader, c eval.Collection, indexed *corpus.Corpus) (o eval.Options,
	err error) {
	standard, err := profile.Load(profile.DefaultName)
	if err != nil {
		return o, err
	}
	if o.Names, err = eval.Names(ctx, store, c); err != nil {
		return o, err
	}
	o.Same = eval.Copies(o.Names, indexed, standard.Collapse)
	return o, nil
}

// ErrUnjudged: a case has no query that one of the judges has judged.
var ErrUnjudged = errors.New("no query is judged by these judges")

// Collection returns a case with its judged queries; see eval.Case. ErrUnjudged if
// there are none, catalog.ErrNotFound if there is no such case.
func Collection(ctx context.Context, store catalog.RelevanceStore, id int64, judges []string) (catalog.Case,
	eval.Collection, error) {
	cases, err := store.Cases(ctx)
	if err != nil {
		return catalog.Case{}, eval.Collection{}, err
	}
	at := slices.IndexFunc(cases, func(c catalog.Case) bool { return c.ID == id })
	if at < 0 {
		return catalog.Case{}, eval.Collection{}, fmt.Errorf("case %d: %w", id, catalog.ErrNotFound)
	}
	collection, err := eval.Case(ctx, store, cases[at], judges...)
	if err == nil && len(collection.Queries) == 0 {
		err = fmt.Errorf("case %s: %w", cases[at].Name, ErrUnjudged)
	}
	return cases[at], collection, err
}
