// Package span marks what the program does for an operator's traces: requests, searches, calls of servers,
// transactions, runs of sources. All layers may use it. Until Use is called there are no traces, and a mark costs
// one look at a pointer.
package span

import (
	"context"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// target is where spans go.
type target struct {
	trace.Tracer
	texts bool
}

var used atomic.Pointer[target] // nil: there are no traces

// Use sends the spans of the process to a tracer; nil ends that. texts says whether they may have what people wrote
// and what errors say, which may quote it; otherwise they have the lengths.
func Use(t trace.Tracer, texts bool) {
	if t == nil {
		used.Store(nil)
		return
	}
	used.Store(&target{t, texts})
}

// Span is something that the program does. The methods of nil, which is every span while there are no traces, do
// nothing.
type Span struct {
	span  trace.Span
	texts bool
}

type key struct{}

// Of returns the span of a context; nil: none.
func Of(ctx context.Context) *Span {
	if used.Load() == nil {
		return nil
	}
	s, _ := ctx.Value(key{}).(*Span)
	return s
}

// Start begins a span, of a trace of its own unless the context has one.
func Start(ctx context.Context, name string) (context.Context, *Span) {
	t := used.Load()
	if t == nil {
		return ctx, nil
	}
	return t.start(ctx, name)
}

// Child begins a span if the context has one that is recorded: what is done all the time, and belongs to nothing, is
// in no trace.
func Child(ctx context.Context, name string) (context.Context, *Span) {
	t := used.Load()
	if t == nil || !trace.SpanFromContext(ctx).IsRecording() {
		return ctx, nil
	}
	return t.start(ctx, name)
}

// Call is Child for the call of a server, or of an engine in this process.
func Call(ctx context.Context, name string, server bool) (context.Context, *Span) {
	t := used.Load()
	if t == nil || !trace.SpanFromContext(ctx).IsRecording() {
		return ctx, nil
	}
	if server {
		return t.start(ctx, name, trace.WithSpanKind(trace.SpanKindClient))
	}
	return t.start(ctx, name)
}

func (t *target) start(ctx context.Context, name string, o ...trace.SpanStartOption) (context.Context, *Span) {
	ctx, span := t.Start(ctx, name, o...)
	s := &Span{span, t.texts}
	return context.WithValue(ctx, key{}, s), s
}

// Past adds a span to that of the context that began and ended at times that were taken elsewhere.
func Past(ctx context.Context, name string, begun, ended time.Time) {
	t := used.Load()
	if t == nil || !trace.SpanFromContext(ctx).IsRecording() {
		return
	}
	_, span := t.Start(ctx, name, trace.WithTimestamp(begun))
	span.End(trace.WithTimestamp(ended))
}

// Serve begins the span of a request. What its header says of a trace is continued if whoever sent it is trusted, and
// otherwise a link: a stranger must not decide what is recorded.
func Serve(ctx context.Context, header func(name string) string, trusted bool) (context.Context, *Span) {
	t := used.Load()
	if t == nil {
		return ctx, nil
	}
	o := []trace.SpanStartOption{trace.WithSpanKind(trace.SpanKindServer)}
	from := trace.SpanContextFromContext(w3c.Extract(context.Background(), carrier{get: header}))
	switch {
	case !from.IsValid():
	case trusted:
		ctx = trace.ContextWithRemoteSpanContext(ctx, from)
	default:
		o = append(o, trace.WithLinks(trace.Link{SpanContext: from}))
	}
	return t.start(ctx, "request", o...)
}

// Inject sets the headers by which a server that is called continues the trace of a context.
func Inject(ctx context.Context, set func(name, value string)) {
	if used.Load() != nil {
		w3c.Inject(ctx, carrier{set: set})
	}
}

var w3c propagation.TraceContext

// carrier are the headers of any transport.
type carrier struct {
	get func(name string) string
	set func(name, value string)
}

func (c carrier) Get(name string) string { return c.get(name) }
func (c carrier) Set(name, value string) { c.set(name, value) }
func (c carrier) Keys() []string         { return nil }

// Name names what turned out to be done.
func (s *Span) Name(name string) {
	if s != nil {
		s.span.SetName(name)
	}
}

// Say adds what the program knows by itself: names of its own, never what people wrote.
func (s *Span) Say(name, value string) {
	if s != nil {
		s.span.SetAttributes(attribute.String(name, value))
	}
}

// Count adds a number.
func (s *Span) Count(name string, n int) {
	if s != nil {
		s.span.SetAttributes(attribute.Int(name, n))
	}
}

// Text adds the length of what a person wrote, and itself only if the operator says so.
func (s *Span) Text(name, text string) {
	if s == nil {
		return
	}
	s.span.SetAttributes(attribute.Int(name+".length", len(text)))
	if s.texts {
		s.span.SetAttributes(attribute.String(name, text))
	}
}

// Fail marks the span as failed.
func (s *Span) Fail(err error) {
	if s == nil || err == nil {
		return
	}
	said := ""
	if s.texts {
		said = err.Error()
	}
	s.span.SetStatus(codes.Error, said)
}

// End ends the span, as failed if there is an error.
func (s *Span) End(err error) {
	if s != nil {
		s.Fail(err)
		s.span.End()
	}
}
