package main

import (
	"io"
	"os"
	"time"

	"almanac/ingest"
	"almanac/ingest/progress"
)

// progress starts a task: a bar on a terminal, lines of the log elsewhere.
func (a *app) progress(what string) *progress.Task {
	if isTerminal(a.err) {
		return progress.Bar(a.err, what)
	}
	return progress.Lines(a.lines, what, time.Now)
}

// syncProgress shows the sources of a sync that is a command of its own.
func (a *app) syncProgress() ingest.Progress {
	if isTerminal(a.err) {
		return ingest.Bars(a.err)
	}
	return ingest.Tasks(a.progress, nil) // the log has the results
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
