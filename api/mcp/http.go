package mcp

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"almanac/api/op"
	"almanac/api/server"
)

// Codes of JSON-RPC errors: an unsupported protocol version, and a call above the
// limit.
const (
	codeVersion = -32022
	codeLimit   = -32000
)

// Routes answer JSON-RPC messages, each by POST. Errors are JSON: {"error": "…"}
// before the body is known to be JSON-RPC, a JSON-RPC error after.
func (s *Server) Routes() []server.Route {
	const path = "/mcp"
	return []server.Route{
		{Method: http.MethodPost, Path: path, MaxBody: MaxBody, Headers: s.cfg.Origins.Share, Serve: s.post},
		{Method: http.MethodOptions, Path: path, Gate: s.gate, Headers: s.cfg.Origins.Share,
			Serve: func(*http.Request) (*server.Answer, error) {
				return server.Preflight(http.MethodPost, "Accept, Authorization, Content-Type, Mcp-Protocol-Version, "+
					"Mcp-Session-Id, Mcp-Method, Mcp-Name, Last-Event-ID"), nil
			}},
		{Path: path, Limit: s.cfg.Connect, Gate: s.gate, Headers: s.cfg.Origins.Share,
			Serve: func(r *http.Request) (*server.Answer, error) {
				return nil, server.NotAllowed(r, "POST, OPTIONS", "send each JSON-RPC message by POST; "+
					"clients of agents connect to this address (streamable HTTP)")
			}},
	}
}

// gate keeps pages of other origins out.
func (s *Server) gate(r *http.Request) *server.Answer {
	if s.cfg.Origins.Allow(r) {
		return nil
	}
	return errOrigin.JSON()
}

var errOrigin = &server.Refusal{Status: http.StatusForbidden, Message: "pages of this origin may not call this endpoint"}

// post counts a message and answers it. Connecting is not calling: what a client
// sends before it asks anything counts in a bucket of its own. One above the limit
// is refused with an error that clients show.
func (s *Server) post(r *http.Request) (a *server.Answer, err error) {
	m, body, a := s.receive(r)
	bucket, counted := s.cfg.Limit, http.Header{}
	if m.connects() {
		bucket = s.cfg.Connect
	}
	if refusal, _ := bucket.Take(counted, r); refusal != "" {
		a = m.refuse(http.StatusTooManyRequests, failure(codeLimit, "%s", refusal))
	} else if a == nil {
		if a, err = s.answer(r, m, body); err != nil {
			return nil, err
		}
	}
	a.Header = counted
	return a, nil
}

// receive reads a message and checks its envelope. What it does not take it refuses.
func (s *Server) receive(r *http.Request) (m message, body []byte, refused *server.Answer) {
	if refused := s.gate(r); refused != nil {
		return m, nil, refused
	}
	// The protocol requires clients to accept text/event-stream too. Answers are JSON,
	// so accepting that is enough.
	if weight, _ := server.Accepts(r, "application/json"); weight == 0 && len(r.Header.Values("Accept")) > 0 {
		return m, nil, (&server.Refusal{Status: http.StatusNotAcceptable,
			Message: "Accept must contain application/json and text/event-stream"}).JSON()
	}
	body, _, err := server.Body(r, "application/json")
	if err != nil {
		return m, nil, server.Explain(r.Context(), err).JSON()
	}
	m, wrong := parseMessage(body)
	if wrong != nil {
		refused = m.refuse(http.StatusBadRequest, wrong)
	}
	return m, body, refused
}

// answer validates a message, including what the SDK would reject in plain text, and
// forwards it.
func (s *Server) answer(r *http.Request, m message, body []byte) (*server.Answer, error) {
	v, err := s.tools.view(r.URL.RawQuery)
	if err != nil {
		return m.refuse(http.StatusBadRequest, failure(jsonrpc.CodeInvalidParams, "%v", err)), nil
	}
	version := r.Header.Get("Mcp-Protocol-Version")
	if version != "" && m.Method == "initialize" && !slices.Contains(Versions, version) {
		// The message negotiates; the header repeats what it asks for.
		r = r.Clone(r.Context())
		r.Header.Del("Mcp-Protocol-Version")
		version = ""
	}
	if version != "" && !slices.Contains(Versions, version) {
		e := failure(codeVersion, "Mcp-Protocol-Version must be one of %s", strings.Join(Versions, ", "))
		e.Data, _ = json.Marshal(map[string]any{"supported": Versions, "requested": op.Cut(version)}) // it always encodes
		return m.refuse(http.StatusBadRequest, e), nil
	}
	switch {
	case m.Method == "" || s.serves(m.Method):
		return s.forward(r, m, v, body)
	case m.ID == nil: // a notification gets no answer
		return &server.Answer{Status: http.StatusAccepted}, nil
	case version >= firstStateless:
		return m.refuse(http.StatusNotFound, notServed(m.Method)), nil
	}
	return m.refuse(http.StatusOK, notServed(m.Method)), nil
}

// forward passes the request to the SDK and returns its answer, as JSON if it is a
// plain-text error.
func (s *Server) forward(r *http.Request, m message, v view, body []byte) (*server.Answer, error) {
	inner := r.Clone(withRequest(r.Context(), request{view: v}))
	inner.Body = io.NopCloser(bytes.NewReader(body))
	inner.Header.Set("Accept", "application/json, text/event-stream") // receive was more lenient
	rec := &recorder{header: http.Header{}, status: http.StatusOK}
	s.inner.ServeHTTP(rec, inner)
	if err := r.Context().Err(); err != nil { // the client left
		return nil, err
	}
	kind := rec.header.Get("Content-Type")
	if rec.status >= 400 && !strings.HasPrefix(kind, "application/json") {
		return m.refuse(rec.status, failure(jsonrpc.CodeInvalidRequest, "%s", op.Cut(strings.TrimSpace(rec.body.String())))), nil
	}
	return &server.Answer{Status: rec.status, Type: kind, Body: rec.body.Bytes()}, nil
}

// recorder buffers an answer of the SDK.
type recorder struct {
	header http.Header
	status int
	body   bytes.Buffer
	wrote  bool
}

func (r *recorder) Header() http.Header { return r.header }

func (r *recorder) WriteHeader(status int) {
	if !r.wrote {
		r.status, r.wrote = status, true
	}
}

func (r *recorder) Write(b []byte) (int, error) {
	r.wrote = true
	return r.body.Write(b)
}

// refuse is an answer with a JSON-RPC error.
func (m message) refuse(status int, e *jsonrpc.Error) *server.Answer {
	return &server.Answer{Status: status, Type: "application/json", Body: m.refusal(e)}
}
