// Package exchangetest records what tests and a real server say to each other
// and plays it back where no server runs, so that a suite that needs a server
// runs everywhere and is deterministic. It is test support and imports nothing
// of ours.
//
// A recording is a file of JSON lines, gzip-compressed where it is large: a
// header with the server and the day, then one exchange a line. A request is
// answered by the recorded exchange of the same method, path, query and body;
// equal requests get their answers in the recorded order, the last one again
// and again. Of a GET that is asked again at once, as by a client that polls,
// only the last answer is recorded: played back, nobody waits. Tests whose
// requests differ (by the name of an index, say) do not depend on each other's
// order.
//
// With the address of a server a suite runs live; with the flag -record too,
// it runs live and the recording is written anew.
package exchangetest

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"
)

var record = flag.Bool("record", false, "write the recordings of the servers whose addresses are given anew")

// Options say what is special about a server.
type Options struct {
	// Server is its name and version; it is written into the recording.
	Server string
	// Secrets are replaced wherever they occur. Headers are not recorded.
	Secrets []string
	// Ignore names members of request bodies, at any depth, and query
	// parameters that do not count when a request is looked up: times, random
	// ids. Of a protobuf message they are the names of its JSON form.
	Ignore []string
}

// exchange is a request and its answer: a line of a recording.
type exchange struct {
	Method string  `json:"method,omitempty"` // empty for gRPC
	Path   string  `json:"path"`
	Query  string  `json:"query,omitempty"` // encoded, sorted by name
	Body   payload `json:"body,omitzero"`
	Status int     `json:"status"` // of HTTP or gRPC
	Type   string  `json:"type,omitempty"`
	Answer payload `json:"answer,omitzero"`
}

// payload is a body: exactly one member is set, none when it is empty.
type payload struct {
	JSON  json.RawMessage `json:"json,omitempty"`
	Text  string          `json:"text,omitempty"`  // what is not JSON
	Bytes []byte          `json:"bytes,omitempty"` // what is not UTF-8 either
}

func newPayload(body []byte) payload {
	var compact bytes.Buffer
	switch {
	case len(body) == 0:
		return payload{}
	case json.Compact(&compact, body) == nil:
		return payload{JSON: compact.Bytes()}
	case utf8.Valid(body):
		return payload{Text: string(body)}
	}
	return payload{Bytes: body}
}

func (p payload) bytes() []byte {
	switch {
	case p.JSON != nil:
		return p.JSON
	case p.Text != "":
		return []byte(p.Text)
	}
	return p.Bytes
}

// canonical returns a payload with the members of JSON objects sorted and
// the ignored ones left out.
func (p payload) canonical(ignore []string) payload {
	if p.JSON == nil {
		return p
	}
	d := json.NewDecoder(bytes.NewReader(p.JSON))
	d.UseNumber() // or large numbers would be rounded
	var v any
	if d.Decode(&v) != nil {
		return p
	}
	strip(v, ignore)
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if e.Encode(v) != nil {
		return p
	}
	return payload{JSON: bytes.TrimSpace(out.Bytes())}
}

// strip removes the named members of all objects of a decoded JSON value.
func strip(v any, names []string) {
	switch v := v.(type) {
	case map[string]any:
		for _, name := range names {
			delete(v, name)
		}
		for _, member := range v {
			strip(member, names)
		}
	case []any:
		for _, element := range v {
			strip(element, names)
		}
	}
}

// key is what a request is looked up by.
func (e exchange) key() string {
	return e.Method + " " + e.Path + "?" + e.Query + "\n" + string(e.Body.bytes())
}

// name says which request it is, in a message.
func (e exchange) name() string {
	name := e.Path
	if e.Method != "" {
		name = e.Method + " " + name
	}
	if e.Query != "" {
		name += "?" + e.Query
	}
	if body := string(e.Body.bytes()); body != "" {
		const shown = 500
		if len(body) > shown {
			body = strings.ToValidUTF8(body[:shown], "") + "…"
		}
		name += " with body " + body
	}
	return name
}

// tape is a recording that is made or played. Its methods are safe for
// concurrent use.
type tape struct {
	t    testing.TB
	file string
	o    Options

	mu        sync.Mutex
	exchanges []exchange            // recording: all so far
	answers   map[string][]exchange // playing: those left of each request
}

// play opens a recording; a missing or damaged one ends the test.
func play(t testing.TB, file string, o Options) *tape {
	t.Helper()
	exchanges, err := load(file)
	if err != nil {
		t.Fatalf("exchangetest: %v (with the server's address and -record it is written)", err)
	}
	p := &tape{t: t, file: file, o: o, answers: make(map[string][]exchange, len(exchanges))}
	for _, e := range exchanges {
		p.answers[e.key()] = append(p.answers[e.key()], e)
	}
	return p
}

// startRecording returns an empty tape that is written when the test has
// passed.
func startRecording(t testing.TB, file string, o Options) *tape {
	r := &tape{t: t, file: file, o: o}
	t.Cleanup(func() {
		if t.Failed() || t.Skipped() {
			return
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		if err := save(file, o.Server, r.exchanges); err != nil {
			t.Errorf("exchangetest: %v", err)
		}
	})
	return r
}

// request makes the part of an exchange that is looked up.
func (p *tape) request(method, path, query string, body []byte) exchange {
	return exchange{Method: method, Path: p.scrub(path), Query: p.scrub(query),
		Body: newPayload([]byte(p.scrub(string(body)))).canonical(p.o.Ignore)}
}

// add records an exchange.
func (p *tape) add(request exchange, status int, contentType string, answer []byte) {
	request.Status, request.Type = status, contentType
	request.Answer = newPayload([]byte(p.scrub(string(answer))))
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := len(p.exchanges); n > 0 && request.Method == http.MethodGet && p.exchanges[n-1].key() == request.key() {
		p.exchanges = p.exchanges[:n-1]
	}
	p.exchanges = append(p.exchanges, request)
}

// answer returns the recorded answer of a request. One that was not recorded
// fails the test.
func (p *tape) answer(request exchange) (exchange, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	left := p.answers[request.key()]
	if len(left) == 0 {
		err := fmt.Errorf("exchangetest: not in %s: %s", p.file, request.name())
		p.t.Error(err)
		return exchange{}, err
	}
	if len(left) > 1 {
		p.answers[request.key()] = left[1:]
	}
	return left[0], nil
}

func (p *tape) scrub(text string) string {
	for i, secret := range p.o.Secrets {
		if secret != "" {
			text = strings.ReplaceAll(text, secret, fmt.Sprintf("secret-%d", i+1))
		}
	}
	return text
}
