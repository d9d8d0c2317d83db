package gather

import (
	"cmp"
	"context"
	"log/slog"
)

// Breaker is a breaker of a server.
type Breaker = breaker

// NewBreaker returns one.
func NewBreaker(log *slog.Logger) *Breaker { return newBreaker("engine", true, log) }

// Call calls through a breaker as a search does, for each of the calls. The
// breaker's open time and ErrLate are those of every search.
func (b *Breaker) Call(ctx context.Context, calls ...func() error) (err error) {
	t := b.use()
	defer t.end()
	for _, call := range calls {
		_, failed := ask(ctx, t, func(context.Context) (struct{}, error) { return struct{}{}, call() })
		err = cmp.Or(err, failed)
	}
	return err
}

// Down is why the engine is left alone.
func (b *Breaker) Down() error { return b.down() }

const BreakerOpen = breakerOpen

var (
	ErrLeftAlone = errLeftAlone
	ErrLate      = errLate
)
