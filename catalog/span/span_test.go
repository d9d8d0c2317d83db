package span_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/trace"

	"almanac/catalog/span"
	"almanac/testing/spantest"
)

// use marks in every way.
func use(ctx context.Context) {
	ctx, s := span.Serve(ctx, func(string) string { return "" }, true)
	of, c := span.Call(ctx, "keyword", true)
	span.Past(of, "plan", time.Time{}, time.Time{})
	span.Inject(of, func(string, string) {})
	c.Text("query", "harbour dues")
	c.Count("results", 3)
	c.End(context.Canceled)
	_, b := span.Child(ctx, "catalog")
	b.Say("operation", "list")
	b.End(nil)
	span.Of(ctx).Name("GET /search")
	s.End(nil)
}

func TestWithoutTracesNothingIsMade(t *testing.T) {
	ctx := t.Context()
	if n := testing.AllocsPerRun(100, func() { use(ctx) }); n != 0 {
		t.Errorf("%v allocations while there are no traces", n)
	}
}

func TestTexts(t *testing.T) {
	for _, texts := range []bool{false, true} {
		r := spantest.Record(t, texts)
		_, s := span.Start(t.Context(), "search")
		s.Text("query", "who is mira@example.org")
		s.End(errors.New("mira@example.org is refused"))
		said := fmt.Sprint(r.Ended()[0].Attributes(), r.Ended()[0].Status())
		if strings.Contains(said, "mira@") != texts || !strings.Contains(said, `"query.length":23`) ||
			strings.Contains(said, "is refused") != texts {
			t.Errorf("with texts %v the span says %s", texts, said)
		}
	}
}

const given = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

// TestATraceIsContinued from a proxy that is trusted, and passed on to servers.
func TestATraceIsContinued(t *testing.T) {
	for _, trusted := range []bool{true, false} {
		r := spantest.Record(t, false)
		ctx, s := span.Serve(t.Context(), func(name string) string {
			return map[string]string{"traceparent": given}[name]
		}, trusted)
		called, c := span.Call(ctx, "vector", true)
		sent := map[string]string{}
		span.Inject(called, func(name, value string) { sent[name] = value })
		c.End(nil)
		s.End(nil)
		call, request := r.Ended()[0], r.Ended()[1]
		of := call.SpanContext()
		if want := fmt.Sprintf("00-%s-%s-01", of.TraceID(), of.SpanID()); sent["traceparent"] != want {
			t.Errorf("the server is told %q, want %q", sent["traceparent"], want)
		}
		if same := of.TraceID().String() == given[3:35]; same != trusted || call.SpanKind() != trace.SpanKindClient {
			t.Errorf("trusted %v: the trace is %s, the call's kind %s", trusted, of.TraceID(), call.SpanKind())
		}
		if linked := len(request.Links()) == 1; linked == trusted {
			t.Errorf("trusted %v: links %v", trusted, request.Links())
		}
	}
}

// TestWhatBelongsToNothing is in no trace: looks at the change log each second would be one each.
func TestWhatBelongsToNothing(t *testing.T) {
	r := spantest.Record(t, false)
	use(t.Context())
	_, s := span.Child(t.Context(), "catalog")
	s.End(nil)
	if got, want := spantest.Names(r), []string{"plan", "keyword", "catalog", "GET /search"}; !slices.Equal(got, want) {
		t.Errorf("spans %q, want %q", got, want)
	}
}
