// Package connectortest is what tests of connectors need: a loopback server
// that misbehaves like real ones do, and sources that run a connector through
// the real pipeline over a catalog of their own. It is test support and
// imports ingest, ingest/outbound, catalog, catalog/network and
// catalog/sqlite.
package connectortest

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"almanac/ingest/outbound"
)

// Fault answers a request in place of its server; next is what the server
// would have done.
type Fault func(w http.ResponseWriter, r *http.Request, next http.Handler)

// Server is a loopback server over a handler that misbehaves when told to.
type Server struct {
	URL string

	handler http.Handler

	mu    sync.Mutex // guards what follows
	rules []*rule
	log   []*http.Request
}

type rule struct {
	prefix string
	left   int // requests it applies to; negative: all
	fault  Fault
}

// NewServer starts a server, which ends with the test.
func NewServer(t testing.TB, h http.Handler) *Server {
	s := &Server{handler: h}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	s.URL = server.URL
	return s
}

// Fault lets the next n requests (all if n is negative) whose path begins
// with the prefix meet a fault. The latest of several faults comes first.
func (s *Server) Fault(prefix string, n int, f Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rules = slices.Insert(s.rules, 0, &rule{prefix: prefix, left: n, fault: f})
}

// Heal ends all faults.
func (s *Server) Heal() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rules = nil
}

// Requests returns the requests since the last call. Their bodies are gone.
func (s *Server) Requests() []*http.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	log := s.log
	s.log = nil
	return log
}

// Paths returns method and address ("GET /a?b=c") of the requests since the
// last call, sorted.
func (s *Server) Paths() []string {
	var paths []string
	for _, r := range s.Requests() {
		paths = append(paths, r.Method+" "+r.URL.RequestURI())
	}
	slices.Sort(paths)
	return paths
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if fault := s.meet(r); fault != nil {
		fault(w, r, s.handler)
		return
	}
	s.handler.ServeHTTP(w, r)
}

func (s *Server) meet(r *http.Request) Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.log = append(s.log, r)
	for _, rule := range s.rules {
		if rule.left != 0 && strings.HasPrefix(r.URL.Path, rule.prefix) {
			rule.left--
			return rule.fault
		}
	}
	return nil
}

// Status answers with a status and no useful body.
func Status(code int) Fault {
	return func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(code)
		_, _ = w.Write([]byte("<html><body><h1>" + http.StatusText(code) + "</h1></body></html>"))
	}
}

// TooMany answers 429 with a Retry-After in seconds.
func TooMany(seconds int) Fault {
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		w.Header().Set("Retry-After", strconv.Itoa(seconds))
		Status(http.StatusTooManyRequests)(w, r, next)
	}
}

// Slow answers after a while, or not if the client does not wait so long.
func Slow(d time.Duration) Fault {
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		select {
		case <-time.After(d):
			next.ServeHTTP(w, r)
		case <-r.Context().Done():
		}
	}
}

// Truncated sends the first half of the right body and ends the connection.
func Truncated(w http.ResponseWriter, r *http.Request, next http.Handler) {
	answer := record(r, next)
	copyHeader(w, answer)
	w.Header().Set("Content-Length", strconv.Itoa(answer.Body.Len()+1))
	w.WriteHeader(answer.Code)
	_, _ = w.Write(answer.Body.Bytes()[:answer.Body.Len()/2])
}

// Halved sends the first half of the right body as if it were the whole.
func Halved(w http.ResponseWriter, r *http.Request, next http.Handler) {
	Edited(func(body []byte) []byte { return body[:len(body)/2] })(w, r, next)
}

// SignIn answers 200 with a page for people.
func SignIn(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = w.Write([]byte("<!doctype html><html><head><title>Sign in</title></head><body><form>Please sign in.</form></body></html>"))
}

// Edited sends the right body after an edit: fields renamed, another
// encoding, items twice.
func Edited(edit func(body []byte) []byte) Fault {
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		answer := record(r, next)
		copyHeader(w, answer)
		w.Header().Del("Content-Length")
		w.WriteHeader(answer.Code)
		_, _ = w.Write(edit(answer.Body.Bytes()))
	}
}

// Garbage answers 200 with the right content type and bytes that mean nothing.
func Garbage(w http.ResponseWriter, r *http.Request, next http.Handler) {
	copyHeader(w, record(r, next))
	w.Header().Del("Content-Length")
	_, _ = w.Write([]byte("\x00\xff\xfe<{[\"\x80 not what was promised"))
}

// Empty answers 200 with the right content type and no body.
func Empty(w http.ResponseWriter, r *http.Request, next http.Handler) {
	copyHeader(w, record(r, next))
	w.Header().Del("Content-Length")
}

// Redirect sends the client elsewhere.
func Redirect(to string) Fault {
	return func(w http.ResponseWriter, r *http.Request, _ http.Handler) {
		http.Redirect(w, r, to, http.StatusFound)
	}
}

// Inside are addresses no client may be led to.
var Inside = []string{"http://10.0.0.1/", "http://169.254.169.254/latest/meta-data/", "http://[fd00::1]/", "file:///etc/passwd"}

// Reset ends the connection without an answer.
func Reset(http.ResponseWriter, *http.Request, http.Handler) { panic(http.ErrAbortHandler) }

// Repeating returns a fault that answers every request as the first it meets:
// a list whose pages have no end.
func Repeating() Fault {
	var once sync.Once
	var answer *httptest.ResponseRecorder
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		once.Do(func() { answer = record(r, next) })
		copyHeader(w, answer)
		w.WriteHeader(answer.Code)
		_, _ = w.Write(answer.Body.Bytes())
	}
}

// record is what the handler answers, unconditionally.
func record(r *http.Request, h http.Handler) *httptest.ResponseRecorder {
	r = r.Clone(r.Context())
	r.Header.Del("If-None-Match")
	r.Header.Del("If-Modified-Since")
	answer := httptest.NewRecorder()
	h.ServeHTTP(answer, r)
	return answer
}

func copyHeader(w http.ResponseWriter, answer *httptest.ResponseRecorder) {
	for name, values := range answer.Header() {
		w.Header()[name] = values
	}
}

// Client returns a client that may connect to loopback and to nothing else
// that is private, and that does not wait between tries. It gives up on a slow
// server after half a second.
func Client(t testing.TB) *outbound.Client {
	c := outbound.New(outbound.Config{
		Allow:   []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")},
		Timeout: 500 * time.Millisecond, Now: func() time.Time { return Now },
		Wait: func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
	})
	t.Cleanup(c.Close)
	return c
}
