package meili_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	"almanac/catalog"
	"almanac/retrieval/keyword"
	"almanac/retrieval/keyword/meili"
	"almanac/testing/meilitest"
)

// paused is the connection of a writer that is stopped before it sends documents.
type paused struct {
	http.RoundTripper
	meanwhile func() // what others do until it goes on
	then      func(*http.Request) error
}

func (p *paused) RoundTrip(r *http.Request) (*http.Response, error) {
	if f := p.meanwhile; f != nil && strings.HasSuffix(r.URL.Path, "/delete") {
		p.meanwhile = nil
		f()
	}
	if p.then != nil {
		if err := p.then(r); err != nil {
			return nil, err
		}
	}
	return p.RoundTripper.RoundTrip(r)
}

// successors returns the server, the connection and the engine of a writer, and the
// configuration of the next.
func successors(t *testing.T) (s *meilitest.Server, to *paused, first *meili.Engine, next meili.Config) {
	s = meilitest.Start(t)
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	to = &paused{RoundTripper: transport}
	next = meili.Config{URL: s.URL, Index: "x", Generation: 3, Owner: "test", Epoch: 1, Transport: to}
	first = begin(t, next, 0)
	next.Epoch, next.Transport = 2, transport
	return s, to, first, next
}

// TestAnOvertakenWriterIsRefused holds that nothing of a writer is written once the next has
// looked at the index.
func TestAnOvertakenWriterIsRefused(t *testing.T) {
	s, _, first, c := successors(t)
	write(t, first, 5, "amber")
	second := begin(t, c, 5)
	before := s.Passages()
	if err := first.Apply(t.Context(), keyword.Batch{Delete: []int64{1}, Checkpoint: 6}); !errors.Is(err,
		catalog.ErrOvertaken) {
		t.Errorf("a batch: %v", err)
	}
	if after := s.Passages(); !slices.Equal(before, after) {
		t.Errorf("passages %d, before %d", after, before)
	}
	write(t, second, 6, "amber", "beryl")
	if err := second.Promote(t.Context()); err != nil {
		t.Fatal(err)
	}
	finds(t, second, "beryl", 2)
	c.Generation, c.Epoch = 2, 1
	old := open(t, c)
	if _, err := old.Checkpoint(t.Context()); !errors.Is(err, catalog.ErrOvertaken) {
		t.Errorf("another generation of the first: %v", err)
	}
	finds(t, second, "beryl", 2)
}

// TestWhatIsWrittenTooLateIsReadAgain stops a writer in the middle of a batch until the next
// one has written: that continues from before what the first left.
func TestWhatIsWrittenTooLateIsReadAgain(t *testing.T) {
	for name, c := range map[string]struct {
		cut  bool // the batch does not end
		from int64
	}{"whole": {false, 7}, "cut off": {true, 5}} {
		t.Run(name, func(t *testing.T) {
			_, to, first, next := successors(t)
			write(t, first, 5, "amber")
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var second *meili.Engine
			to.meanwhile = func() {
				second = begin(t, next, 5)
				write(t, second, 9, "amber", "beryl")
				if !c.cut {
					return
				}
				to.then = func(r *http.Request) error {
					if strings.HasSuffix(r.URL.Path, "/documents") && ctx.Err() == nil {
						cancel()
						return ctx.Err()
					}
					return nil
				}
			}
			err := first.Apply(ctx, keyword.Batch{Delete: []int64{2}, Checkpoint: 7})
			if (err != nil) != c.cut {
				t.Fatal(err)
			}
			if err := second.Apply(t.Context(), batch(10)); err == nil ||
				!strings.Contains(err.Error(), "has lost changes") {
				t.Errorf("the next batch: %v", err)
			}
			if at, err := second.Checkpoint(t.Context()); at != c.from || err != nil {
				t.Errorf("it continues from %d, %v, want %d", at, err, c.from)
			}
			write(t, second, 9, "amber", "beryl")
			finds(t, second, "beryl", 2)
			if err := first.Apply(t.Context(), batch(8)); !errors.Is(err, catalog.ErrOvertaken) {
				t.Errorf("another batch of the first: %v", err)
			}
		})
	}
}
