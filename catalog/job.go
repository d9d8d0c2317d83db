package catalog

import (
	"context"
	"time"
)

// JobStore keeps work that is asked for in one process and done in the one that
// writes the index.
type JobStore interface {
	// Enqueue adds a job; of the request it takes Kind, Argument, By and CreatedAt (default
	// now).
	Enqueue(ctx context.Context, r Request) (int64, error)
	// Requests returns those not done, oldest first.
	Requests(ctx context.Context) ([]Request, error)
	// Jobs returns requests whatever their state, newest first; limit 0 means all.
	Jobs(ctx context.Context, limit int) ([]Request, error)
	// Job returns a request. ErrNotFound.
	Job(ctx context.Context, id int64) (Request, error)
	// StartRequest says that a request is under way from now on; one that a process
	// left unfinished begins again.
	StartRequest(ctx context.Context, id int64) error
	// ProgressRequest stores how far a request is, and reports whether it is to be
	// cancelled.
	ProgressRequest(ctx context.Context, id int64, done, total int) (cancel bool, err error)
	// CancelRequest asks whoever executes a request to stop; one that has not begun
	// is done at once. ErrNotFound if no open request has the id.
	CancelRequest(ctx context.Context, id int64) error
	// FinishRequest marks a request done, with its result or why there is none.
	// ErrNotFound if no open request has the id.
	FinishRequest(ctx context.Context, id int64, result, failure string) error
}

// Request is a job: work for the process that writes the index.
type Request struct {
	ID        int64     `json:"id"`
	Kind      string    `json:"kind"`               // sync, reindex, eval, tune
	Argument  string    `json:"argument,omitempty"` // of a sync the source, or empty for all; of others JSON
	By        string    `json:"by"`                 // who asked for it
	CreatedAt time.Time `json:"created_at"`
	StartedAt time.Time `json:"started_at,omitzero"` // of the last attempt; zero: not yet
	Attempts  int       `json:"attempts"`            // how often it began
	DoneAt    time.Time `json:"done_at,omitzero"`    // zero: not yet
	Done      int       `json:"done"`                // steps of Total
	Total     int       `json:"total"`
	Cancelled bool      `json:"cancelled"`        // it is to stop
	Result    string    `json:"result,omitempty"` // JSON, of the kind
	Failure   string    `json:"failure,omitempty"`
}

// State says in a word how a request stands: waiting, running, stopping, done,
// failed or cancelled. One that a process left unfinished is running until the next
// takes it up.
func (r Request) State() string {
	switch {
	case r.DoneAt.IsZero() && r.StartedAt.IsZero():
		return "waiting"
	case r.DoneAt.IsZero() && r.Cancelled:
		return "stopping"
	case r.DoneAt.IsZero():
		return "running"
	case r.Failure == "":
		return "done"
	case r.Cancelled:
		return "cancelled"
	}
	return "failed"
}
