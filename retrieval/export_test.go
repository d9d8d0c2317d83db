package retrieval

import (
	"context"
	"log/slog"
)

// Breaker is a breaker of a server.
type Breaker = breaker

// NewBreaker returns one.
func NewBreaker() *Breaker { return newBreaker("engine", true, slog.New(slog.DiscardHandler)) }

// Call calls through a breaker. The breaker's open time and ErrLate are those
// of every search.
func (b *Breaker) Call(ctx context.Context, call func() error) error {
	_, err := ask(ctx, b, func() (struct{}, error) { return struct{}{}, call() })
	return err
}

// Down is why the engine is left alone.
func (b *Breaker) Down() error { return b.down() }

const BreakerOpen = breakerOpen

var (
	ErrLeftAlone = errLeftAlone
	ErrLate      = errLate
)
