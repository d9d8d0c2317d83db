package ingest

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
)

// bars draws one progress bar per source.
type bars struct {
	w    io.Writer
	mu   sync.Mutex // guards open, and w among concurrent sources
	open map[string]*bar
}

// bar is a source's bar with its total, 0 while unknown.
type bar struct {
	*progressbar.ProgressBar
	total int
}

// Bars returns a Progress for a terminal: a bar for each running source,
// replaced by a line with the result when it is done.
func Bars(w io.Writer) Progress {
	return &bars{w: w, open: map[string]*bar{}}
}

// unknownTotal makes a bar of unknown length, which is drawn as a spinner.
const unknownTotal = -1

func (b *bars) Start(source string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.open[source] = &bar{ProgressBar: progressbar.NewOptions(unknownTotal,
		progressbar.OptionSetWriter(b.w),
		progressbar.OptionSetDescription(source),
		progressbar.OptionShowCount(),
		progressbar.OptionSetWidth(30),
		progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionSetSpinnerChangeInterval(0), // no goroutine of its own
		progressbar.OptionClearOnFinish(),
	)}
}

func (b *bars) Progress(source string, done, total int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	bar, ok := b.open[source]
	if !ok {
		return
	}
	if total > 0 && bar.total != total {
		bar.total = total
		bar.ChangeMax(total)
	}
	_ = bar.Set(done) // a bar that cannot be drawn does not stop a sync
}

func (b *bars) Done(r Report) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if bar, ok := b.open[r.Source]; ok {
		_ = bar.Clear()
		_ = bar.Exit()
		delete(b.open, r.Source)
	}
	if r.Err != nil {
		fmt.Fprintf(b.w, "%-16s failed: %v\n", r.Source, r.Err)
	} else {
		fmt.Fprintf(b.w, "%-16s %d new, %d changed, %d unchanged, %d removed, %d skipped, %d warnings  %s\n",
			r.Source, r.Created, r.Updated, r.Unchanged, r.Deleted, r.Skipped, r.Warned,
			r.Took.Round(10*time.Millisecond))
	}
	for _, p := range r.Problems {
		if p.Skipped {
			fmt.Fprintf(b.w, "  skipped %s: %s\n", p.Locator, p.Message)
		}
	}
}
