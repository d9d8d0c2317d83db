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

// An engine that failed breakerTrips times in a row is left alone for
// breakerOpen, then tried with one search at a time.
const (
	breakerTrips = 3
	breakerOpen  = 5 * time.Second
)

// errLate is the cause of a search's own deadlines, which tells them from a
// client that went away or had less time.
var errLate = errors.New("it did not answer in time")

// errLeftAlone stands for the answer of an engine whose breaker is open.
var errLeftAlone = errors.New("it failed before and is left alone for some seconds")

// breaker stands before an engine on a server, which may be away or slow, so
// that only the first searches pay for finding out. An engine in this process
// is always asked: nothing would answer in its place.
type breaker struct {
	name    string
	two     *gobreaker.TwoStepCircuitBreaker[struct{}] // nil: no server
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

// down returns why the engine is left alone or was last seen failing; nil
// while it answers.
func (b *breaker) down() error {
	if b.two == nil || b.two.State() == gobreaker.StateClosed {
		return nil
	}
	if failure := b.failure.Load(); failure != nil {
		return *failure
	}
	return nil
}

// ask calls an engine through its breaker. What the client cancelled says
// nothing about the engine. The first of several failures is logged.
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
			b.log.Info("retrieval: the engine answers again", "engine", b.name)
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
		b.log.Warn("retrieval: the engine fails, and answers go on without it", "engine", b.name, "error", err)
	}
	done(err)
	return answer, fmt.Errorf("%s: %w", b.name, err)
}
