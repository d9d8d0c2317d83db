package op

import (
	"context"
	"log/slog"
	"time"

	"almanac/catalog"
)

// Serving is what every interface needs to serve operations.
type Serving struct {
	Operations []Operation
	// Ready reports whether the first index is complete, and its progress from
	// 0 to 1; nil = always ready. Before that most operations fail with
	// ErrUnavailable.
	Ready func() (ready bool, progress float64)
	// Obstacle is why there is nothing to index; nil, or "" = there is.
	Obstacle func(context.Context) string
	// Kinds lists the kinds that have records, in the order of the table of kinds; none:
	// that is not known yet. nil: records of every kind may come.
	Kinds func(context.Context) []catalog.Kind
	// Until is when calls stop waiting for the first index: one that is loaded in a
	// moment is worth waiting for. Zero: they do not wait.
	Until time.Time
	// Timeout of an operation; 0 = 15 s.
	Timeout time.Duration
	Log     *slog.Logger // nil = none
}

// WithDefaults sets the fields that are zero.
func (s Serving) WithDefaults() Serving {
	if s.Log == nil {
		s.Log = slog.New(slog.DiscardHandler)
	}
	if s.Ready == nil {
		s.Ready = func() (bool, float64) { return true, 1 }
	}
	if s.Timeout == 0 {
		s.Timeout = 15 * time.Second
	}
	return s
}

// look is the interval at which it is asked whether the index is ready.
const look = 10 * time.Millisecond

// Await returns nil when the first index is complete. It waits for that until
// Until, or for at least patience; the error says how far it is, or what to do.
func (s Serving) Await(ctx context.Context, patience time.Duration) error {
	end := time.Now().Add(patience)
	if s.Until.After(end) {
		end = s.Until
	}
	for {
		if s.Obstacle != nil {
			if why := s.Obstacle(ctx); why != "" {
				return Unavailable(5*time.Second, "%s", why)
			}
		}
		ready, progress := s.Ready()
		if ready {
			return nil
		}
		if !time.Now().Before(end) {
			return Loading(progress)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(look):
		}
	}
}
