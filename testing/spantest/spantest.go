// Package spantest records the spans that a test's code marks.
package spantest

import (
	"testing"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"almanac/catalog/span"
)

// Record records the spans of the process until the test ends, which must not run beside others.
func Record(t *testing.T, texts bool) *tracetest.SpanRecorder {
	t.Helper()
	r := tracetest.NewSpanRecorder()
	span.Use(sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(r)).Tracer("test"), texts)
	t.Cleanup(func() { span.Use(nil, false) })
	return r
}

// Names are those of the spans that have ended, in this order.
func Names(r *tracetest.SpanRecorder) (names []string) {
	for _, s := range r.Ended() {
		names = append(names, s.Name())
	}
	return names
}
