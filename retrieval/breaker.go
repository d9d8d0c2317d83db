package retrieval

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/sony/gobreaker/v2"
)

// After breakerTrips failures in a row an engine is not called for breakerOpen,
// then tried with one search at a time.
const (
	breakerTrips = 3
	breakerOpen  = 5 * time.Second
)

// errLate is the cause of a search's own deadlines, to distinguish them from a
// client that left or had less time.
var errLate = errors.New("it did not answer in time")

// errLeftAlone is the error of an engine whose breaker is open.
var errLeftAlone = errors.New("it failed before and is not called for some seconds")

// breaker guards calls of an engine on a server, which may be down or slow, so
// that only the first searches wait for it. An engine in this process is always
// called: there is nothing to fall back to.
type breaker struct {
	name    string
	two     *gobreaker.TwoStepCircuitBreaker[struct{}] // nil: not on a server
	failure atomic.Pointer[error]                      // the last one; nil after a success
	log     *slog.Logger
}

func newBreaker(name string, server bool, log *slog.Logger) *breaker {
	if !server {
		return &breaker{name: name, log: log}
	}
	return &breaker{name: name, log: log, two: gobreaker.NewTwoStepCircuitBreaker[struct{}](gobreaker.Settings{
		Name: name, MaxRequests: 1, Timeout: breakerOpen,
		ReadyToTrip: func(c gobreaker.Counts) bool { return c.ConsecutiveFailures >= breakerTrips },
		IsExcluded:  func(err error) bool { return errors.Is(err, context.Canceled) },
	})}
}

// down returns why the engine is not called or last failed; nil while it works.
func (b *breaker) down() error {
	if b.two == nil || b.two.State() == gobreaker.StateClosed {
		return nil
	}
	if failure := b.failure.Load(); failure != nil {
		return *failure
	}
	return nil
}

// open reports whether the next search leaves the engine alone.
func (b *breaker) open() bool { return b.two != nil && b.two.State() == gobreaker.StateOpen }

// ask calls an engine through its breaker. A call that the client cancelled
// says nothing about the engine. The first of several failures is logged.
func ask[T any](ctx context.Context, b *breaker, call func() (T, error)) (answer T, err error) {
	done := func(error) {}
	if b.two != nil {
		if done, err = b.two.Allow(); err != nil {
			return answer, fmt.Errorf("%s: %w", b.name, errLeftAlone)
		}
	}
	answer, err = call()
	switch {
	case err == nil:
		if b.failure.Swap(nil) != nil {
			b.log.Info("the engine answers again", "engine", b.name)
		}
		done(nil)
		return answer, nil
	case ctx.Err() != nil && context.Cause(ctx) != errLate:
		done(context.Canceled)
		return answer, fmt.Errorf("%s: %w", b.name, err)
	case ctx.Err() != nil:
		err = errLate
	}
	failure := err
	if b.failure.Swap(&failure) == nil {
		b.log.Warn("the engine fails, searches continue without it", "engine", b.name, "error", err)
	}
	done(err)
	return answer, fmt.Errorf("%s: %w", b.name, err)
}
