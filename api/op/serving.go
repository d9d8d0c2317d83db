package op

import (
	"log/slog"
	"time"
)

// Serving is what every interface needs to serve operations.
type Serving struct {
	Operations []Operation
	// Ready reports whether the first index is complete, and its progress from
	// 0 to 1; nil = always ready. Before that most operations fail with
	// ErrUnavailable.
	Ready func() (ready bool, progress float64)
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
