package outbound_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"almanac/ingest/outbound"
	"almanac/testing/connectortest"
)

func TestBlameOf(t *testing.T) {
	status := func(n int) error { return fmt.Errorf("GET x: %w", &outbound.StatusError{Status: n}) }
	for want, errs := range map[outbound.Blame][]error{
		outbound.Nobody: {nil, fmt.Errorf("GET x: %w", context.Canceled)},
		outbound.Item: {status(400), status(401), status(403), status(304), outbound.ErrRefused, outbound.ErrTooLarge,
			fmt.Errorf("GET x: %w", outbound.ErrContentType)},
		outbound.Gone: {status(404), status(410)},
		outbound.Busy: {status(429)},
		outbound.Server: {status(500), status(501), status(503), outbound.ErrTimeout, outbound.ErrTruncated, io.EOF,
			errors.New("connection refused")},
	} {
		for _, err := range errs {
			if got := outbound.BlameOf(err); got != want {
				t.Errorf("%v: %d, want %d", err, got, want)
			}
		}
	}
}

// TestHosts: a host that failed five times in a row gets no further requests, and
// twenty such hosts end all; what a server answers about an item is no failure of it.
func TestHosts(t *testing.T) {
	server := func(status int) *connectortest.Server {
		return connectortest.NewServer(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if s := status; s == 0 {
				w.WriteHeader(map[bool]int{true: 200, false: 503}[strings.HasSuffix(r.URL.Path, "/up")])
			} else {
				w.WriteHeader(s)
			}
		}))
	}
	ctx := connectortest.Impatient(t.Context())
	hosts := outbound.Hosts{Client: connectortest.Client(t)}
	ask := func(s *connectortest.Server, path string, times int) (asked int, err error) {
		s.Paths()
		for n := range times {
			_, err = hosts.Do(ctx, outbound.Request{URL: fmt.Sprintf("%s/%d%s", s.URL, n, path)})
		}
		seen := map[string]bool{} // a request is tried several times
		for _, p := range s.Paths() {
			seen[p] = true
		}
		return len(seen), err
	}
	for _, status := range []int{200, 403, 404, 410} {
		if n, err := ask(server(status), "", 8); n != 8 || errors.Is(err, outbound.ErrDown) {
			t.Errorf("%d: %d requests, %v", status, n, err)
		}
	}
	lame := server(0)
	for range 3 {
		_, _ = ask(lame, "/down", 4)
		if _, err := ask(lame, "/up", 1); err != nil {
			t.Errorf("four failures, not in a row with others: %v", err)
		}
	}
	if err := hosts.Down(); err != nil {
		t.Errorf("a host is down: %v", err)
	}
	var last error
	for i := range 20 {
		s := server([]int{500, 429}[i%2])
		n, err := ask(s, "", 7)
		if n != 5 || !errors.Is(err, outbound.ErrDown) ||
			!strings.Contains(err.Error(), strings.TrimPrefix(s.URL, "http://")+" failed 5 times in a row") {
			t.Errorf("%d requests, %v", n, err)
		}
		last = err
	}
	if n, err := ask(server(200), "", 1); n != 0 || !errors.Is(err, outbound.ErrDown) || !errors.Is(hosts.Down(), last) {
		t.Errorf("after twenty hosts: %d requests, %v", n, err)
	}
}

func TestACancelledRunIsNoFailureOfAHost(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := connectortest.NewServer(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { cancel() }))
	s.Fault("/", -1, func(_ http.ResponseWriter, r *http.Request, _ http.Handler) { cancel(); <-r.Context().Done() })
	hosts := outbound.Hosts{Client: connectortest.Client(t)}
	for range 6 {
		if _, err := hosts.Do(ctx, outbound.Request{URL: s.URL}); outbound.BlameOf(err) != outbound.Nobody {
			t.Errorf("%v", err)
		}
	}
	if err := hosts.Down(); err != nil {
		t.Error(err)
	}
}
