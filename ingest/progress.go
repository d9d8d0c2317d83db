package ingest

import (
	"encoding/json"
	"io"
	"sync"
	"time"
)

// Progress receives the progress of runs. Sources that run concurrently call
// it from several goroutines.
type Progress interface {
	Start(source string)
	// Progress reports how much of a source is done; total 0 = unknown.
	Progress(source string, done, total int)
	Done(report Report)
}

// silent is the Progress of a pipeline without one.
type silent struct{}

func (silent) Start(string)              {}
func (silent) Progress(string, int, int) {}
func (silent) Done(Report)               {}

// progressEvery is the least time between two progress lines of a source.
const progressEvery = time.Second

// progressLine is one line of JSON progress.
type progressLine struct {
	Time   time.Time `json:"time"`
	Event  string    `json:"event"` // start, progress, done
	Source string    `json:"source"`
	*progressCount
	*progressEnd
}

type progressCount struct {
	Done  int `json:"done"`
	Total int `json:"total"` // 0 = unknown
}

type progressEnd struct {
	Created   int           `json:"created"`
	Updated   int           `json:"updated"`
	Unchanged int           `json:"unchanged"`
	Foreign   int           `json:"foreign"`
	Deleted   int           `json:"deleted"`
	Skipped   int           `json:"skipped"`
	Warned    int           `json:"warned"`
	Problems  []problemLine `json:"problems"`
	TookMS    int64         `json:"took_ms"`
	Error     string        `json:"error,omitempty"`
}

type problemLine struct {
	Locator string `json:"locator"`
	Message string `json:"message"`
	Skipped bool   `json:"skipped"`
}

// lines writes progress as JSON, one object per line.
type lines struct {
	now func() time.Time
	mu  sync.Mutex // guards all below
	enc *json.Encoder
	at  map[string]time.Time // when a source's progress was last written
}

// JSONLines returns a Progress for programs: a line when a source starts, at
// most one per second while it runs, and one with the report when it is done.
func JSONLines(w io.Writer, now func() time.Time) Progress {
	return &lines{now: now, enc: json.NewEncoder(w), at: map[string]time.Time{}}
}

// write encodes one line. Progress that cannot be written does not stop a sync.
func (l *lines) write(line progressLine) { _ = l.enc.Encode(line) }

func (l *lines) Start(source string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now().UTC()
	l.at[source] = now
	l.write(progressLine{Time: now, Event: "start", Source: source})
}

func (l *lines) Progress(source string, done, total int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now().UTC()
	if now.Sub(l.at[source]) < progressEvery {
		return
	}
	l.at[source] = now
	l.write(progressLine{Time: now, Event: "progress", Source: source, progressCount: &progressCount{done, total}})
}

func (l *lines) Done(r Report) {
	l.mu.Lock()
	defer l.mu.Unlock()
	end := &progressEnd{
		Created: r.Created, Updated: r.Updated, Unchanged: r.Unchanged, Foreign: r.Foreign, Deleted: r.Deleted,
		Skipped: r.Skipped, Warned: r.Warned, Problems: []problemLine{}, TookMS: r.Took.Milliseconds(),
	}
	for _, p := range r.Problems {
		end.Problems = append(end.Problems, problemLine(p))
	}
	if r.Err != nil {
		end.Error = r.Err.Error()
	}
	delete(l.at, r.Source)
	l.write(progressLine{Time: l.now().UTC(), Event: "done", Source: r.Source, progressEnd: end})
}
