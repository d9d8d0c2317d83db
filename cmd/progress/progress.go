// Package progress shows how far a long task is: as a bar on a terminal, or else as a
// line in the log every ten seconds.
package progress

import (
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
)

// Every is the time between two lines of a task.
const Every = 10 * time.Second

// A Task is shown until End. Its methods may be called at the same time.
type Task struct {
	name string
	show shown

	mu    sync.Mutex // guards all below
	ended bool
}

// shown is how a task is shown; calls do not overlap.
type shown interface {
	set(done, total int)
	end()
}

// Set tells it that done of total are done; total 0 = unknown.
func (t *Task) Set(done, total int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.ended {
		t.show.set(done, total)
	}
}

// End removes the bar. It may be called again.
func (t *Task) End() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.ended {
		t.ended = true
		t.show.end()
	}
}

// Bar starts a task that is a bar on the terminal w. A failure to draw it stops
// nothing.
func Bar(w io.Writer, name string) *Task {
	const unknown = -1 // drawn as a spinner
	if s, ok := w.(*Screen); ok {
		w = drawing{s}
	}
	return &Task{name: name, show: &bar{ProgressBar: progressbar.NewOptions(unknown,
		progressbar.OptionSetWriter(w), progressbar.OptionSetDescription(name), progressbar.OptionShowCount(),
		progressbar.OptionSetWidth(30), progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionSetSpinnerChangeInterval(0), // no goroutine of its own
		progressbar.OptionClearOnFinish(),
	)}}
}

type bar struct {
	*progressbar.ProgressBar
	total int
}

func (b *bar) set(done, total int) {
	if total > 0 && total != b.total {
		b.total = total
		b.ChangeMax(total)
	}
	_ = b.Set(done)
}

func (b *bar) end() {
	_ = b.Clear()
	_ = b.Exit()
}

// Lines starts a task that is a line of the log every ten seconds: what is done,
// of how many, how many a second, and the seconds left.
func Lines(log *slog.Logger, name string, now func() time.Time) *Task {
	return &Task{name: name, show: &lines{log: log, name: name, now: now, began: now(), said: now()}}
}

type lines struct {
	log         *slog.Logger
	name        string
	now         func() time.Time
	began, said time.Time
}

func (l *lines) set(done, total int) {
	now := l.now()
	if now.Sub(l.said) < Every {
		return
	}
	l.said = now
	rate := float64(done) / now.Sub(l.began).Seconds()
	attrs := []any{"task", l.name, "done", done}
	if total > 0 {
		attrs = append(attrs, "total", total)
	}
	attrs = append(attrs, "per_second", float64(int(rate*10))/10)
	if total > done && rate > 0 {
		attrs = append(attrs, "left", time.Duration(float64(total-done)/rate*float64(time.Second)).Round(time.Second))
	}
	l.log.Info("progress", attrs...)
}

func (*lines) end() {}
