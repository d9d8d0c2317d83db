package retrieval

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sony/gobreaker/v2"

	"almanac/retrieval/ranking"
	"almanac/retrieval/trace"
)

// After breakerTrips searches in a row that an engine failed it is not called
// for breakerOpen, then tried with one search at a time.
const (
	breakerTrips = 3
	breakerOpen  = 5 * time.Second
)

// errLate is the cause of a search's own deadlines, to distinguish them from a
// client that left or had less time.
var errLate = errors.New("it did not answer in time")

// errLeftAlone is the error of an engine whose breaker is open.
var errLeftAlone = errors.New("it failed before and is not called for some seconds")

// breaker guards the use of an engine on a server, which may be down or slow,
// so that only the first searches wait for it. An engine in this process is
// always called: there is nothing to fall back to.
type breaker struct {
	name    string
	two     *gobreaker.TwoStepCircuitBreaker[struct{}] // nil: not on a server
	failure atomic.Pointer[error]                      // the last one; nil after a success
	log     *slog.Logger
}

// The engines, by their places among breakers and uses.
const (
	engineKeyword = iota
	engineVector
	engineEmbedder
	engineReranker
)

var engineNames = [...]string{ranking.KeywordEngine, ranking.VectorEngine, "embedder", "reranker"}

// uses are a search's uses of the engines.
type uses [len(engineNames)]*use

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

// server reports whether the engine is on a server.
func (b *breaker) server() bool { return b.two != nil }

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

// use is the use of an engine by one search: the breaker allows or refuses all of
// its calls together, and counts them once, as a failure if any of them fails.
type use struct {
	*breaker

	mu     sync.Mutex
	begun  bool
	refuse error // of further calls
	done   func(error)
	result error // nil after a success; context.Canceled if all calls were
}

func (b *breaker) use() *use { return &use{breaker: b, result: context.Canceled} }

// allow returns why the search may not call the engine, or may not call it again.
func (t *use) allow() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.begun && t.two != nil {
		if t.done, t.refuse = t.two.Allow(); t.refuse != nil {
			t.refuse = errLeftAlone
		}
	}
	t.begun = true
	return t.refuse
}

// count records the result of a call. After a failure the search does not ask a server
// again.
func (t *use) count(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case errors.Is(err, context.Canceled):
	case err == nil:
		if t.result == context.Canceled {
			t.result = nil
		}
	default:
		t.result = err
		if t.two != nil {
			t.refuse = errLeftAlone
		}
	}
}

// end counts the search. The first of several failures is logged.
func (t *use) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.done != nil {
		t.done(t.result)
	}
	switch {
	case !t.begun || t.result == context.Canceled:
	case t.result != nil:
		failure := t.result
		if t.failure.Swap(&failure) == nil {
			t.log.Warn("the engine fails, searches continue without it", "engine", t.name, "error", t.result)
		}
	case t.failure.Swap(nil) != nil:
		t.log.Info("the engine answers again", "engine", t.name)
	}
}

// ask calls an engine in a search's use of it. A call that the client
// cancelled says nothing about the engine.
func ask[T any](ctx context.Context, t *use, call func(context.Context) (T, error)) (answer T, err error) {
	if err = t.allow(); err != nil {
		return answer, fmt.Errorf("%s: %w", t.name, err)
	}
	of, s := trace.Call(ctx, t.name, t.server())
	defer func() { trace.End(s, err) }()
	if answer, err = call(of); err == nil {
		t.count(nil)
		return answer, nil
	}
	switch {
	case ctx.Err() == nil:
		t.count(err)
	case context.Cause(ctx) == errLate:
		err = errLate
		t.count(err)
	default:
		t.count(context.Canceled)
	}
	return answer, fmt.Errorf("%s: %w", t.name, err)
}
