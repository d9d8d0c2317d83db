package main

import (
	"time"

	"almanac/cmd/progress"
	"almanac/cmd/terminal"
	"almanac/ingest"
)

// progress starts a task: a bar on a terminal, lines of the log elsewhere.
func (a *app) progress(what string) *progress.Task {
	if terminal.Is(a.err) {
		return progress.Bar(a.err, what)
	}
	return progress.Lines(a.lines, what, time.Now)
}

// syncProgress shows the sources of a sync that is a command of its own.
func (a *app) syncProgress() ingest.Progress {
	if terminal.Is(a.err) {
		return progress.Bars(a.err)
	}
	return progress.Sources(a.progress, nil) // the log has the results
}
