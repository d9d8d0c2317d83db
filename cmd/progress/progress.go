// Package progress shows how far a long task is: as a bar on a terminal, or else as a
// line in the log every ten seconds.
package progress

import (
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"time"
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

// Bar starts a task that is a line on the terminal w, drawn again ten times a second. A failure to draw it stops nothing.
func Bar(w io.Writer, name string) *Task {
	if s, ok := w.(*Screen); ok {
		w = drawing{s}
	}
	return &Task{name: name, show: &bar{w: w, name: name, began: time.Now()}}
}

type bar struct {
	w            io.Writer
	name         string
	began, drawn time.Time
}

// width is the length of a bar in characters.
const width = 30

func (b *bar) set(done, total int) {
	if time.Since(b.drawn) < 100*time.Millisecond {
		return
	}
	b.drawn = time.Now()
	if total <= 0 {
		fmt.Fprintf(b.w, "%s%s %d", eraseLine, b.name, done)
		return
	}
	filled := width * min(done, total) / total
	fmt.Fprintf(b.w, "%s%s |%s%s| %d/%d", eraseLine, b.name, strings.Repeat("█", filled), strings.Repeat(" ", width-filled),
		done, total)
	if left := remaining(done, total, b.drawn.Sub(b.began)); left > 0 {
		fmt.Fprintf(b.w, ", %s left", left)
	}
}

func (b *bar) end() { _, _ = io.WriteString(b.w, eraseLine) }

// remaining estimates the time to the end of a task; 0 = unknown.
func remaining(done, total int, since time.Duration) time.Duration {
	if done <= 0 || done >= total {
		return 0
	}
	return time.Duration(float64(since) * float64(total-done) / float64(done)).Round(time.Second)
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
	if left := remaining(done, total, now.Sub(l.began)); left > 0 {
		attrs = append(attrs, "left", left)
	}
	l.log.Info("progress", attrs...)
}

func (*lines) end() {}
