package workbench

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"almanac/catalog"
	"almanac/catalog/sqlstore"
	"almanac/retrieval/corpus"
	"almanac/retrieval/eval"
	"almanac/retrieval/ranking"
	"almanac/text/dates"
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

// Run is one stored evaluation. Its Profile is the name that was asked for, without
// the revision's number; that of its report is a name that means the same later:
// of ranking.Live what was in force.
type Run struct {
	catalog.Evaluation
	Report eval.Report
}

// Keep stores reports that were not measured by a job, as runs of the case that
// their collection is named after; as has what they have in common. ErrNotFound if
// there is no such case.
func Keep(ctx context.Context, store *sqlstore.Store, reports []eval.Report, as catalog.Evaluation) error {
	as.At = time.Now()
	for _, r := range reports {
		c, err := CaseNamed(ctx, store, r.Collection)
		if err != nil {
			return err
		}
		run := Run{as, r}
		run.Case, run.Profile = c.ID, r.Profile
		if n, saved := ranking.ParseName(r.Profile); saved {
			run.Profile, run.Revision = n.Profile, n.Number
		} else if r.Profile == ranking.Live {
			live, _, err := ranking.InForce(ctx, store)
			if err != nil {
				return err
			}
			run.Report.Profile, run.Revision = live.Profile(), live.Of(catalog.ProfileRevision).Number
		}
		if _, err := Save(ctx, store, run); err != nil {
			return err
		}
	}
	return nil
}

// Save stores a run, with the rankings as deep as recall is measured, and returns
// its id.
func Save(ctx context.Context, store *sqlstore.Store, r Run) (int64, error) {
	queries := slices.Clone(r.Report.PerQuery)
	for i := range queries {
		queries[i].Ranking = queries[i].Ranking[:min(eval.RecallCut, len(queries[i].Ranking))]
	}
	summary, err := json.Marshal(r.Report)
	if err != nil {
		return 0, fmt.Errorf("experiment: %w", err)
	}
	data, err := json.Marshal(queries)
	if err != nil {
		return 0, fmt.Errorf("experiment: %w", err)
	}
	r.Summary, r.Data = string(summary), string(data)
	return store.AddEvaluation(ctx, r.Evaluation)
}

// Load reads a run with its queries. catalog.ErrNotFound.
func Load(ctx context.Context, store *sqlstore.Store, id int64) (Run, error) {
	e, err := store.Evaluation(ctx, id)
	if err != nil {
		return Run{}, err
	}
	return parse(e)
}

// ListRuns reads the runs of a case (0: of all), newest first, without their queries;
// limit 0 means all.
func ListRuns(ctx context.Context, store *sqlstore.Store, caseID int64, limit int) ([]Run, error) {
	list, err := store.Evaluations(ctx, caseID, limit)
	if err != nil {
		return nil, err
	}
	runs := make([]Run, len(list))
	for i, e := range list {
		if runs[i], err = parse(e); err != nil {
			return nil, err
		}
	}
	return runs, nil
}

// parse reads what is stored of a run; its data may have been left out.
func parse(e catalog.Evaluation) (Run, error) {
	r := Run{Evaluation: e}
	err := json.Unmarshal([]byte(e.Summary), &r.Report)
	if err == nil && e.Data != "" {
		err = json.Unmarshal([]byte(e.Data), &r.Report.PerQuery)
	}
	r.Summary, r.Data = "", ""
	if err != nil {
		return r, fmt.Errorf("experiment: run %d: %w", e.ID, err)
	}
	return r, nil
}

// Difference is how one run differs from another.
type Difference struct {
	eval.Comparison         // of the queries that both measured
	Queries         int     // how many those are
	Jaccard         float64 // of the first ten, the mean over queries
	RBO             float64 // of eval.Persistence, the mean over queries
	Changes         []Change
}

// Change is how one query's ranking changed.
type Change struct {
	eval.Pair
	By           float64 // of nDCG@10; under 0 = worse
	Jaccard, RBO float64
}

// Compare returns how ours differs from theirs, the query that lost most first.
func Compare(ours, theirs Run) Difference {
	pairs := eval.Pairs(ours.Report.PerQuery, theirs.Report.PerQuery)
	d := Difference{Comparison: eval.ComparePairs(pairs), Queries: len(pairs)}
	d.Against = theirs.Report.Profile
	for _, p := range pairs {
		x := Change{Pair: p, By: p.Ours.NDCG10 - p.Theirs.NDCG10,
			Jaccard: eval.Jaccard(p.Ours.Ranking, p.Theirs.Ranking, eval.Cut),
			RBO:     eval.RBO(p.Ours.Ranking, p.Theirs.Ranking, eval.Persistence)}
		d.Jaccard += x.Jaccard / float64(len(pairs))
		d.RBO += x.RBO / float64(len(pairs))
		d.Changes = append(d.Changes, x)
	}
	slices.SortStableFunc(d.Changes, func(a, b Change) int { return cmp.Compare(a.By, b.By) })
	return d
}

// BySchedule asks for the runs that nobody asked for.
const BySchedule = "schedule"

// lookEvery is how often the cases are looked at.
const lookEvery = time.Minute

// Schedule asks for a run of what is published for each case when its time has
// come, until ctx ends. Only the process that writes the index calls it. When a
// case was asked for last is kept in the catalog, so that a restart neither
// repeats nor forgets one; of several that are due one is asked for at a time, the
// longest due first.
func Schedule(ctx context.Context, store *sqlstore.Store, log *slog.Logger) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		if err := Due(ctx, store, time.Now()); err != nil && ctx.Err() == nil {
			log.ErrorContext(ctx, "scheduled evaluation failed", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// Due asks for one run if a case is due and no scheduled run is open.
func Due(ctx context.Context, store *sqlstore.Store, now time.Time) error {
	cases, err := store.Cases(ctx)
	if err != nil {
		return err
	}
	cases = slices.DeleteFunc(cases, func(c catalog.Case) bool { return c.Every <= 0 })
	if len(cases) == 0 {
		return nil
	}
	open, err := store.Requests(ctx)
	if err != nil || slices.ContainsFunc(open, func(r catalog.Request) bool {
		return r.Kind == EvalTask{}.Kind() && r.By == BySchedule
	}) {
		return err
	}
	asked := make(map[int64]time.Time, len(cases))
	for _, c := range cases {
		text, err := store.Meta(ctx, metaAsked(c.ID))
		if err != nil {
			return err
		}
		asked[c.ID] = dates.At(text, dates.Instant) // never: due at once
	}
	due := func(c catalog.Case) time.Time { return asked[c.ID].Add(c.Every) }
	first := slices.MinFunc(cases, func(a, b catalog.Case) int {
		return cmp.Or(due(a).Compare(due(b)), cmp.Compare(a.ID, b.ID))
	})
	if due(first).After(now) {
		return nil
	}
	task := EvalTask{Case: first.ID, Profiles: []string{ranking.Live}}
	if _, err := Ask(ctx, store, task, BySchedule); err != nil {
		return err
	}
	return store.SetMeta(ctx, metaAsked(first.ID), now.UTC().Format(time.RFC3339))
}

// metaAsked is where the catalog keeps when a case was asked for last.
func metaAsked(id int64) string { return fmt.Sprintf("evaluated/%d", id) }
