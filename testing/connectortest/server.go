// Package connectortest supports tests of connectors: a loopback server that
// misbehaves as real ones do, and sources that run a connector through the real
// pipeline with their own catalog. It imports ingest, ingest/outbound, catalog,
// catalog/network and catalog/sqlite.
package connectortest

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"net/netip"
	"net/textproto"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"almanac/ingest/outbound"
)

// Fault handles a request instead of the server; next is the server's handler.
type Fault func(w http.ResponseWriter, r *http.Request, next http.Handler)

// Server is a loopback server that misbehaves on demand.
type Server struct {
	URL string

	handler http.Handler

	mu    sync.Mutex // guards the fields below
	rules []*rule
	log   []*http.Request
}

type rule struct {
	prefix string
	left   int // requests it applies to; negative: all
	fault  Fault
}

// NewServer starts a server, which the end of the test closes.
func NewServer(t testing.TB, h http.Handler) *Server {
	s := &Server{handler: h}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	s.URL = server.URL
	return s
}

// Fault applies a fault to the next n requests (all if n is negative) whose path
// begins with the prefix. Of several faults the latest applies.
func (s *Server) Fault(prefix string, n int, f Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rules = slices.Insert(s.rules, 0, &rule{prefix: prefix, left: n, fault: f})
}

// Heal removes all faults.
func (s *Server) Heal() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rules = nil
}

// Requests returns the requests since the last call, without their bodies.
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

// Status returns a status and no useful body.
func Status(code int) Fault {
	return func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(code)
		_, _ = w.Write([]byte("<html><body><h1>" + http.StatusText(code) + "</h1></body></html>"))
	}
}

// TooMany returns 429 with a Retry-After in seconds.
func TooMany(seconds int) Fault {
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		w.Header().Set("Retry-After", strconv.Itoa(seconds))
		Status(http.StatusTooManyRequests)(w, r, next)
	}
}

// Slow says that it will not respond, and does not. A client that Impatient watches
// gives up then, as if its time were over; none waits for it.
func Slow(w http.ResponseWriter, r *http.Request, _ http.Handler) {
	w.WriteHeader(http.StatusEarlyHints)
	<-r.Context().Done()
}

// Impatient returns a context whose requests time out at servers that are Slow, and
// at no other.
func Impatient(ctx context.Context) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		Got1xxResponse: func(int, textproto.MIMEHeader) error { return os.ErrDeadlineExceeded },
	})
}

// Truncated sends the first half of the right body and closes the connection.
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

// SignIn returns 200 with a page for people.
func SignIn(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = w.Write([]byte("<!doctype html><html><head><title>Sign in</title></head>" +
		"<body><form>Please sign in.</form></body></html>"))
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

// Garbage returns 200 with the right content type and meaningless bytes.
func Garbage(w http.ResponseWriter, r *http.Request, next http.Handler) {
	copyHeader(w, record(r, next))
	w.Header().Del("Content-Length")
	_, _ = w.Write([]byte("\x00\xff\xfe<{[\"\x80 not what was promised"))
}

// Empty returns 200 with the right content type and no body.
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

// Inside are addresses that no client may be redirected to.
var Inside = []string{
	"http://10.0.0.1/", "http://169.254.169.254/latest/meta-data/", "http://[fd00::1]/", "file:///etc/passwd",
}

// Reset closes the connection without a response.
func Reset(http.ResponseWriter, *http.Request, http.Handler) { panic(http.ErrAbortHandler) }

// Repeating returns a fault that gives every request the response to the first:
// a list whose pages never end.
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

// record returns the handler's response to an unconditional request.
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

// Client returns a client that may connect to loopback but to no other private
// address and does not wait between attempts.
func Client(t testing.TB) *outbound.Client {
	c := outbound.New(outbound.Config{
		Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")},
		Now:   func() time.Time { return Now },
		Wait:  func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
	})
	t.Cleanup(c.Close)
	return c
}
