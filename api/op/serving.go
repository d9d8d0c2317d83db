package op

import (
	"log/slog"
	"time"
)

// Serving is what every interface needs to serve operations.
type Serving struct {
	Operations []Operation
	// Ready tells whether the first index is complete, and how much of it is,
	// 0 to 1; nil = always. Until then most operations are ErrUnavailable.
	Ready func() (ready bool, progress float64)
	// Timeout is how long an operation may run; 0 = 15 s.
	Timeout time.Duration
	Log     *slog.Logger // nil = none
}

// WithDefaults fills what is not set.
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
