package catalog

import "time"

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
