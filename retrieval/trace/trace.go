// Package trace records how a search went, for those who ask: the time of each stage.
// It holds the only clock of a search, so that
// answers, metrics and an operator's traces say the same.
package trace

import (
	"context"
	"sync"
	"time"

	"go.opentelemetry.io/otel/codes"
	otel "go.opentelemetry.io/otel/trace"
)

// Trace is the times of one search.
type Trace struct {
	Timings map[string]time.Duration // by stage

	ctx         context.Context // its stages are spans of this one's
	now         func() time.Time
	begun, last time.Time
	mu          sync.Mutex // of Timings while parts run
}

// New begins a trace by a clock.
func New(ctx context.Context, now func() time.Time) *Trace {
	t := now()
	return &Trace{Timings: map[string]time.Duration{}, ctx: ctx, now: now, begun: t, last: t}
}

// Begun returns when the search began.
func (t *Trace) Begun() time.Time { return t.begun }

// End records the time of a stage, which began when the one before it ended.
func (t *Trace) End(stage string) {
	now := t.now()
	t.Timings[stage] += now.Sub(t.last)
	_, s := Span(t.ctx, stage, otel.WithTimestamp(t.last))
	s.End(otel.WithTimestamp(now))
	t.last = now
}

// Part begins a part of the stage that goes on. It may be called concurrently, before
// the stage ends.
func (t *Trace) Part(ctx context.Context, name string) (of context.Context, end func(error)) {
	of, s := Span(ctx, name)
	begun := t.now()
	return of, func(err error) {
		took := t.now().Sub(begun)
		End(s, err)
		t.mu.Lock()
		defer t.mu.Unlock()
		t.Timings[name] = took
	}
}

// Span begins a span in the trace of a context; outside one nothing is recorded.
func Span(ctx context.Context, name string, o ...otel.SpanStartOption) (context.Context, otel.Span) {
	return otel.SpanFromContext(ctx).TracerProvider().Tracer("almanac").Start(ctx, name, o...)
}

// Call is Span for the call of a server, or of an engine in this process.
func Call(ctx context.Context, name string, server bool) (context.Context, otel.Span) {
	if server {
		return Span(ctx, name, otel.WithSpanKind(otel.SpanKindClient))
	}
	return Span(ctx, name)
}

// End ends a span, as failed if there is an error.
func End(s otel.Span, err error) {
	if err != nil {
		s.SetStatus(codes.Error, err.Error())
	}
	s.End()
}

// Took returns the time from the beginning to the end of the last stage.
func (t *Trace) Took() time.Duration { return t.last.Sub(t.begun) }
