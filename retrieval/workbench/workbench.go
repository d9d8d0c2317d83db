// Package workbench is where relevance is measured and tuned. It keeps cases of
// judged queries, the judgments of people, models and clicks, runs of profiles
// over them, and fits weights to them; pages, commands and jobs use it.
package workbench

import (
	"context"
	"encoding/json"
	"fmt"

	"almanac/catalog"
	"almanac/catalog/jobs"
	"almanac/catalog/sqlstore"
	"almanac/retrieval"
	"almanac/retrieval/corpus"
	"almanac/retrieval/eval"
	"almanac/retrieval/ranking"
)

// Index is Measurable, and profiles can be fitted on it.
type Index interface {
	Measurable
	eval.Signaler
}

// Measurable is the index that serves, as profiles can be measured on it.
type Measurable interface {
	retrieval.Searcher
	// Indexed returns the generation that serves and its corpus. ErrNotReady.
	Indexed() (generation int64, indexed *corpus.Corpus, err error)
}

// Runner does the tasks that people ask for.
type Runner struct {
	ranking.Source
	Index   Index
	Model   *Model // that judges; nil: none
	Version string // of the program
}

// Task is what a job is asked for: EvalTask, TuneTask, JudgeTask or ReplayTask.
type Task interface {
	Kind() string // of the job
}

// Ask asks for a job, and returns its id.
func Ask(ctx context.Context, store *sqlstore.Store, t Task, by string) (int64, error) {
	argument, err := json.Marshal(t)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", t.Kind(), err)
	}
	return store.Enqueue(ctx, catalog.Request{Kind: t.Kind(), Argument: string(argument), By: by})
}

// TaskOf reads what a job was asked for; it is an error if that is another task.
func TaskOf[T Task](r catalog.Request) (t T, err error) {
	if r.Kind != t.Kind() {
		return t, fmt.Errorf("job %d is of kind %s, not %s", r.ID, r.Kind, t.Kind())
	}
	if err = json.Unmarshal([]byte(r.Argument), &t); err != nil {
		err = fmt.Errorf("%s: argument of job %d: %w", t.Kind(), r.ID, err)
	}
	return t, err
}

// Job is a job that was asked for: its task, and what it found, which is zero until it is done.
type Job[T Task, R any] struct {
	catalog.Request
	Task  T
	Found R
}

// JobOf reads a job; it is an error if it has another task.
func JobOf[T Task, R any](r catalog.Request) (j Job[T, R], err error) {
	j.Request = r
	if j.Task, err = TaskOf[T](r); err == nil && r.Result != "" {
		err = json.Unmarshal([]byte(r.Result), &j.Found)
	}
	return j, err
}

// JobsOf returns those of a task among the newest jobs, newest first; limit 0 means among all.
func JobsOf[T Task, R any](ctx context.Context, store *sqlstore.Store, limit int) (out []Job[T, R], err error) {
	all, err := store.Jobs(ctx, limit)
	for _, r := range all {
		if j, err := JobOf[T, R](r); err == nil {
			out = append(out, j)
		}
	}
	return out, err
}

// Jobs are what does the tasks, by the kinds of their jobs: an EvalTask gives
// Runs, a TuneTask a Fit, a JudgeTask Graded and a ReplayTask a Replay.
func (x Runner) Jobs() map[string]jobs.Do {
	return map[string]jobs.Do{EvalTask{}.Kind(): job(x.evaluate), TuneTask{}.Kind(): job(x.tune),
		JudgeTask{}.Kind(): job(x.judge), ReplayTask{}.Kind(): job(x.replay)}
}

// job is a job that does a task for whoever asked.
func job[T Task, R any](
	do func(ctx context.Context, t T, by string, progress func(done, total int)) (R, error),
) jobs.Do {
	return func(ctx context.Context, r catalog.Request, progress func(done, total int)) (any, error) {
		t, err := TaskOf[T](r)
		if err != nil {
			return nil, err
		}
		return do(ctx, t, r.By, progress)
	}
}
