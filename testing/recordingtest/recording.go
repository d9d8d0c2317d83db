// Package recordingtest records the calls between tests and a real server and
// plays them back where no server runs, so that a suite that needs a server
// runs everywhere and is deterministic. It is test support.
//
// A recording is a file of JSON lines, gzip-compressed if it is large: a header
// with the server and the day, then one call per line. A request is answered by
// the recorded call of the same method, path, query and body; equal requests
// get their responses in the recorded order, and the last one from then on. Of
// a GET that is repeated at once, as by a client that polls, only the last
// response is recorded: playback never waits. Tests whose requests differ (by
// the name of an index, say) are independent of each other's order.
//
// With the address of a server a suite runs live; with the flag -record too,
// it runs live and the recording is written again.
package recordingtest

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
)

var record = flag.Bool("record", false, "write the recordings of the servers whose addresses are given again")

// Wanted reports whether -record is set.
func Wanted() bool { return *record }

// Options describe a server.
type Options struct {
	// Server is its name and version; it is written into the recording.
	Server string
	// Secrets are replaced wherever they occur. Headers are not recorded.
	Secrets []string
}

// Call is a request and its response: a line of a recording.
type Call struct {
	Method string  `json:"method,omitempty"` // empty for gRPC
	Path   string  `json:"path"`
	Query  string  `json:"query,omitempty"` // encoded, sorted by name
	Body   payload `json:"body,omitzero"`
	Status int     `json:"status"` // of HTTP or gRPC
	Type   string  `json:"type,omitempty"`
	Answer payload `json:"answer,omitzero"`
}

// payload is a body: exactly one member is set, none if it is empty.
type payload struct {
	JSON json.RawMessage `json:"json,omitempty"`
	Text string          `json:"text,omitempty"` // what is not JSON
}

func newPayload(body []byte) payload {
	var compact bytes.Buffer
	switch {
	case len(body) == 0:
		return payload{}
	case json.Compact(&compact, body) == nil:
		return payload{JSON: compact.Bytes()}
	}
	return payload{Text: string(body)}
}

func (p payload) bytes() []byte {
	if p.JSON != nil {
		return p.JSON
	}
	return []byte(p.Text)
}

// canonical returns a payload with the members of JSON objects sorted.
func (p payload) canonical() payload {
	if p.JSON == nil {
		return p
	}
	d := json.NewDecoder(bytes.NewReader(p.JSON))
	d.UseNumber() // or large numbers would be rounded
	var v any
	if d.Decode(&v) != nil {
		return p
	}
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if e.Encode(v) != nil {
		return p
	}
	return payload{JSON: bytes.TrimSpace(out.Bytes())}
}

// key returns the key under which a request is looked up.
func (c Call) key() string {
	return c.Method + " " + c.Path + "?" + c.Query + "\n" + string(c.Body.bytes())
}

// name identifies a request in messages.
func (c Call) name() string {
	name := c.Path
	if c.Method != "" {
		name = c.Method + " " + name
	}
	if c.Query != "" {
		name += "?" + c.Query
	}
	if body := string(c.Body.bytes()); body != "" {
		const shown = 500
		if len(body) > shown {
			body = strings.ToValidUTF8(body[:shown], "") + "…"
		}
		name += " with body " + body
	}
	return name
}

// Reply is the response to a request.
type Reply struct {
	Status int    // of HTTP or gRPC
	Type   string // of HTTP: the media type
	Body   []byte
}

// Recording is being recorded or played. Its methods are safe for concurrent use.
type Recording struct {
	t    testing.TB
	file string
	o    Options

	mu      sync.Mutex
	calls   []Call            // making: all so far
	answers map[string][]Call // playing: those left of each request
}

// Play opens a recording; a missing or damaged one ends the test.
func Play(t testing.TB, file string, o Options) *Recording {
	t.Helper()
	calls, err := load(file)
	if err != nil {
		t.Fatalf("recordingtest: %v (with the server's address and -record it is written)", err)
	}
	r := &Recording{t: t, file: file, o: o, answers: make(map[string][]Call, len(calls))}
	for _, c := range calls {
		r.answers[c.key()] = append(r.answers[c.key()], c)
	}
	return r
}

// Record returns an empty recording that is written when the test has passed.
func Record(t testing.TB, file string, o Options) *Recording {
	r := &Recording{t: t, file: file, o: o}
	t.Cleanup(func() {
		if t.Failed() || t.Skipped() {
			return
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		if err := save(file, o.Server, r.calls); err != nil {
			t.Errorf("recordingtest: %v", err)
		}
	})
	return r
}

// Request makes the part of a call that is looked up.
func (r *Recording) Request(method, path, query string, body []byte) Call {
	return Call{Method: method, Path: r.scrub(path), Query: r.scrub(query),
		Body: newPayload([]byte(r.scrub(string(body)))).canonical()}
}

// Add records a call.
func (r *Recording) Add(request Call, reply Reply) {
	request.Status, request.Type = reply.Status, reply.Type
	request.Answer = newPayload([]byte(r.scrub(string(reply.Body))))
	r.mu.Lock()
	defer r.mu.Unlock()
	if n := len(r.calls); n > 0 && request.Method == http.MethodGet && r.calls[n-1].key() == request.key() {
		r.calls = r.calls[:n-1]
	}
	r.calls = append(r.calls, request)
}

// Answer returns the recorded response to a request. A request that was not
// recorded fails the test.
func (r *Recording) Answer(request Call) (Reply, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	left := r.answers[request.key()]
	if len(left) == 0 {
		err := fmt.Errorf("recordingtest: not in %s: %s", r.file, request.name())
		r.t.Error(err)
		return Reply{}, err
	}
	if len(left) > 1 {
		r.answers[request.key()] = left[1:]
	}
	return Reply{left[0].Status, left[0].Type, left[0].Answer.bytes()}, nil
}

// Fail fails the test.
func (r *Recording) Fail(err error) { r.t.Error(fmt.Errorf("recordingtest: %w", err)) }

func (r *Recording) scrub(text string) string {
	for i, secret := range r.o.Secrets {
		if secret != "" {
			text = strings.ReplaceAll(text, secret, fmt.Sprintf("secret-%d", i+1))
		}
	}
	return text
}
