package main

import (
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
)

// bar draws progress on a terminal; elsewhere it draws nothing.
type bar struct{ bar *progressbar.ProgressBar }

func (a *app) progress(what string) bar {
	if !isTerminal(a.err) {
		return bar{}
	}
	return bar{progressbar.NewOptions(1,
		progressbar.OptionSetWriter(a.err), progressbar.OptionSetDescription(what), progressbar.OptionShowCount(),
		progressbar.OptionSetWidth(30), progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionClearOnFinish(),
	)}
}

// set updates the bar. Errors of drawing are ignored.
func (b bar) set(done, total int) {
	if b.bar != nil {
		b.bar.ChangeMax(total)
		_ = b.bar.Set(done)
	}
}

// done removes the bar.
func (b bar) done() {
	if b.bar != nil {
		_ = b.bar.Clear()
		_ = b.bar.Exit()
	}
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
