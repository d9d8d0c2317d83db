package trace_test

import (
	"slices"
	"testing"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"almanac/retrieval/trace"
)

// TestStagesAreSpans with the times that answers and metrics have.
func TestStagesAreSpans(t *testing.T) {
	r := tracetest.NewSpanRecorder()
	traces := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(r))
	now := time.Date(2031, 5, 6, 7, 8, 9, 0, time.UTC)
	clock := func() time.Time { now = now.Add(time.Millisecond); return now }
	ctx, search := traces.Tracer("test").Start(t.Context(), "search")
	tr := trace.New(ctx, clock)
	tr.End("plan")
	of, end := tr.Part(ctx, "retrieve/dense")
	_, engine := trace.Call(of, "vector", true)
	engine.End()
	end(nil)
	tr.End("retrieve")
	search.End()
	want := []string{"plan", "vector", "retrieve/dense", "retrieve", "search"}
	spans := r.Ended()
	var got []string
	for _, s := range spans {
		got = append(got, s.Name())
	}
	if !slices.Equal(got, want) {
		t.Fatalf("spans %q, want %q", got, want)
	}
	for _, s := range []int{0, 3} {
		if took := spans[s].EndTime().Sub(spans[s].StartTime()); took != tr.Timings[spans[s].Name()] || took <= 0 {
			t.Errorf("%s took %v as a span, %v by the trace", spans[s].Name(), took, tr.Timings[spans[s].Name()])
		}
		if spans[s].Parent().SpanID() != spans[4].SpanContext().SpanID() {
			t.Errorf("%s is no part of the search", spans[s].Name())
		}
	}
	if spans[1].Parent().SpanID() != spans[2].SpanContext().SpanID() {
		t.Error("the engine's call is no part of its list")
	}
	if tr.Timings["retrieve/dense"] <= 0 {
		t.Errorf("timings %v", tr.Timings)
	}
}
