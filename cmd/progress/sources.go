package progress

import (
	"fmt"
	"io"
	"sync"
	"time"

	"almanac/ingest"
)

// Sources returns a Progress that shows each running source as a task and calls
// done with its report; done may be nil.
func Sources(start func(source string) *Task, done func(ingest.Report)) ingest.Progress {
	return &tasks{start: start, done: done, open: map[string]*Task{}}
}

type tasks struct {
	start func(string) *Task
	done  func(ingest.Report)

	mu   sync.Mutex // guards open, and done among concurrent sources
	open map[string]*Task
}

func (t *tasks) Start(source string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.open[source] = t.start(source)
}

func (t *tasks) Progress(source string, done, total int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if task := t.open[source]; task != nil {
		task.Set(done, total)
	}
}

func (t *tasks) Done(r ingest.Report) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if task := t.open[r.Source]; task != nil {
		task.End()
		delete(t.open, r.Source)
	}
	if t.done != nil {
		t.done(r)
	}
}

// Bars returns a Progress for a terminal: a bar for each running source,
// replaced by a line with the result when it is done.
func Bars(w io.Writer) ingest.Progress {
	return Sources(func(source string) *Task { return Bar(w, source) },
		func(r ingest.Report) { printReport(w, r) })
}

func printReport(w io.Writer, r ingest.Report) {
	if r.Err != nil {
		fmt.Fprintf(w, "%-16s failed: %v\n", r.Source, r.Err)
	} else {
		fmt.Fprintf(w, "%-16s %d new, %d changed, %d unchanged, %d removed, %d skipped, %d warnings  %s\n",
			r.Source, r.Created, r.Updated, r.Unchanged, r.Deleted, r.Skipped, r.Warned,
			r.Took.Round(10*time.Millisecond))
	}
	for _, p := range r.Problems {
		if p.Skipped {
			fmt.Fprintf(w, "  skipped %s: %s\n", p.Locator, p.Message)
		}
	}
}
