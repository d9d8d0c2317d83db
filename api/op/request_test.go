package op_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"almanac/api/op"
)

func TestInternalErrorsNameTheRequest(t *testing.T) {
	id := op.NewRequest()
	if !op.ValidRequest(id) || id == op.NewRequest() {
		t.Errorf("the id %q is no id of its own", id)
	}
	ctx := op.WithRequest(t.Context(), id)
	if got := op.RequestOf(ctx); got != id {
		t.Errorf("the request is %q, want %q", got, id)
	}
	if got := op.Internal(ctx); !strings.HasSuffix(got, "under request "+id) {
		t.Error(got)
	}
	if got := op.Internal(t.Context()); got != "internal error" || op.RequestOf(t.Context()) != "" {
		t.Errorf("without a request: %q", got)
	}
	for _, id := range []string{"", "a b", "a\nb", "ä", strings.Repeat("a", 65)} {
		if op.ValidRequest(id) {
			t.Errorf("the id %q is kept", id)
		}
	}
}

func TestAwait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		if err := (op.Serving{}).WithDefaults().Await(t.Context(), 0); err != nil {
			t.Errorf("what is always ready: %v", err)
		}
		began := time.Now()
		s := op.Serving{Ready: func() (bool, float64) { return time.Since(began) >= time.Second, .5 }}.WithDefaults()
		if err := s.Await(t.Context(), time.Millisecond); !errors.Is(err, op.ErrUnavailable) ||
			!strings.Contains(err.Error(), "50") {
			t.Errorf("before its time: %v", err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := s.Await(ctx, time.Hour); !errors.Is(err, context.Canceled) {
			t.Errorf("a call that is given up: %v", err)
		}
		s.Until = began.Add(time.Minute)
		if err := s.Await(t.Context(), 0); err != nil || time.Since(began) > 2*time.Second {
			t.Errorf("an index that is complete in a second: %v", err)
		}
		s.Obstacle = func(context.Context) string { return "there are no documents" }
		if err := s.Await(t.Context(), time.Hour); !errors.Is(err, op.ErrUnavailable) ||
			!strings.Contains(err.Error(), "there are no documents") {
			t.Errorf("with nothing to index: %v", err)
		}
	})
}
