package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"almanac/api/coding"
	"almanac/api/guard"
	"almanac/api/op"
)

// Codes of JSON-RPC errors: an unsupported protocol version, and a call above the
// limit.
const (
	codeVersion = -32022
	codeLimit   = -32000
)

// ServeHTTP answers one JSON-RPC message. Errors are JSON: {"error": "…"}
// before the body is known to be JSON-RPC, a JSON-RPC error after.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	guard.Protect(w.Header())
	s.front.ServeHTTP(w, r)
}

func (s *Server) answer(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Add("Vary", "Origin")
	allowed := s.origins.Allow(r)
	if origin := r.Header.Get("Origin"); origin != "" && allowed {
		h.Set("Access-Control-Allow-Origin", origin)
		h.Set("Access-Control-Expose-Headers", "Retry-After, RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, "+
			op.RequestHeader)
	}
	if !allowed {
		if r.Method != http.MethodPost || s.take(w, r, message{}) {
			guard.Refuse(w, http.StatusForbidden, "pages of this origin may not call this endpoint")
		}
		return
	}
	switch r.Method {
	case http.MethodPost:
		s.post(w, r)
	case http.MethodOptions:
		h.Set("Allow", "POST, OPTIONS")
		h.Set("Access-Control-Allow-Methods", "POST")
		h.Set("Access-Control-Allow-Headers",
			"Accept, Authorization, Content-Type, Mcp-Protocol-Version, Mcp-Session-Id, Mcp-Method, Mcp-Name, Last-Event-ID")
		h.Set("Access-Control-Max-Age", "86400")
		w.WriteHeader(http.StatusNoContent)
	default:
		if !s.cfg.Connect.Take(w, r) {
			return
		}
		h.Set("Allow", "POST, OPTIONS")
		guard.Refuse(w, http.StatusMethodNotAllowed,
			op.Cut(r.Method)+" is not allowed here: send each JSON-RPC message by POST")
	}
}

// take counts a message. Connecting is not calling: what a client sends before it
// asks anything counts in a bucket of its own. One above the limit is refused with
// an error that clients show.
func (s *Server) take(w http.ResponseWriter, r *http.Request, m message) bool {
	bucket := s.cfg.Limit
	if m.connects() {
		bucket = s.cfg.Connect
	}
	refusal := bucket.Refusal(w, r)
	if refusal != "" {
		m.refuse(w, http.StatusTooManyRequests, &jsonrpc.Error{Code: codeLimit, Message: refusal})
	}
	return refusal == ""
}

// post validates the request, including what the SDK would reject in plain
// text, and forwards it.
func (s *Server) post(w http.ResponseWriter, r *http.Request) {
	body, status, refusal := readBody(w, r)
	if refusal != "" {
		if s.take(w, r, message{}) {
			guard.Refuse(w, status, refusal)
		}
		return
	}
	m, wrong := parseMessage(body)
	if !s.take(w, r, m) {
		return
	}
	if wrong != nil {
		m.refuse(w, http.StatusBadRequest, wrong)
		return
	}
	v, err := s.tools.view(r.URL.RawQuery)
	if err != nil {
		m.refuse(w, http.StatusBadRequest, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: err.Error()})
		return
	}
	version := r.Header.Get("Mcp-Protocol-Version")
	if version != "" && m.Method == "initialize" && !slices.Contains(Versions, version) {
		// The message negotiates; the header repeats what it asks for.
		r = r.Clone(r.Context())
		r.Header.Del("Mcp-Protocol-Version")
		version = ""
	}
	if version != "" && !slices.Contains(Versions, version) {
		data, _ := json.Marshal(map[string]any{"supported": Versions, "requested": op.Cut(version)}) // it always encodes
		message := "Mcp-Protocol-Version must be one of " + strings.Join(Versions, ", ")
		m.refuse(w, http.StatusBadRequest, &jsonrpc.Error{Code: codeVersion, Message: message, Data: data})
		return
	}
	if m.Method != "" && !served[m.Method] {
		s.refuseMethod(w, m, version)
		return
	}
	s.forward(w, r, m, v, body)
}

// readBody returns the body of a POST, or the status and the text of the refusal.
func readBody(w http.ResponseWriter, r *http.Request) (body []byte, status int, refusal string) {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return nil, http.StatusUnsupportedMediaType, "Content-Type must be application/json"
	}
	if !acceptsJSON(r.Header.Values("Accept")) {
		return nil, http.StatusNotAcceptable, "Accept must contain application/json and text/event-stream"
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, MaxBody))
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return nil, http.StatusRequestEntityTooLarge, "the body must be at most 128 KiB"
	}
	if err != nil {
		return nil, http.StatusBadRequest, "the body could not be read"
	}
	return body, 0, ""
}

// refuseMethod refuses a method that is not served; a notification gets no
// answer.
func (s *Server) refuseMethod(w http.ResponseWriter, m message, version string) {
	if m.ID == nil {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	status := http.StatusOK
	if version >= firstStateless {
		status = http.StatusNotFound
	}
	m.refuse(w, status, notServed(m.Method))
}

// forward passes the request to the SDK and sends its answer, compressed if the
// client accepts that, and as JSON if it is a plain-text error.
func (s *Server) forward(w http.ResponseWriter, r *http.Request, m message, v view, body []byte) {
	key := keyOf(r, m, body)
	if kept, ok := s.lists.get(key); ok {
		kept.write(w, http.StatusOK)
		return
	}
	inner := r.Clone(withRequest(r.Context(), v, 0))
	inner.Body = io.NopCloser(bytes.NewReader(body))
	inner.Header.Set("Accept", "application/json, text/event-stream") // post was more lenient
	rec := &recorder{header: http.Header{}, status: http.StatusOK}
	s.inner.ServeHTTP(rec, inner)
	if r.Context().Err() != nil {
		return // the client left
	}
	kind := rec.header.Get("Content-Type")
	if rec.status >= 400 && !strings.HasPrefix(kind, "application/json") {
		text := strings.TrimSpace(rec.body.String())
		m.refuse(w, rec.status, &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: op.Cut(text)})
		return
	}
	out := answer{kind, coding.Choose(r.Header.Get("Accept-Encoding"), rec.body.Len()), rec.body.Bytes()}
	if out.coding != coding.Identity {
		out.body = out.coding.Encode(out.body)
	}
	if key != "" && rec.status == http.StatusOK {
		s.lists.put(key, out)
	}
	out.write(w, rec.status)
}

// acceptsJSON is more lenient than the protocol, which requires
// text/event-stream too: answers are JSON, so JSON is enough to read them.
func acceptsJSON(values []string) bool {
	if len(values) == 0 {
		return true
	}
	for part := range strings.SplitSeq(strings.Join(values, ","), ",") {
		kind, _, _ := strings.Cut(part, ";")
		switch strings.ToLower(strings.TrimSpace(kind)) {
		case "application/json", "application/*", "*/*":
			return true
		}
	}
	return false
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

// message is as much of a JSON-RPC message as is needed to refuse it.
type message struct {
	Version *string         `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Method  string          `json:"method"`
	Result  json.RawMessage `json:"result"`
	Error   json.RawMessage `json:"error"`
}

// connects reports whether a message belongs to connecting, or is a notification
// of the protocol.
func (m message) connects() bool {
	switch m.Method {
	case "initialize", "server/discover", "ping":
		return true
	}
	return m.ID == nil && strings.HasPrefix(m.Method, "notifications/")
}

// parseMessage checks the envelope of a message. One that is refused has no
// method.
func parseMessage(body []byte) (m message, refusal *jsonrpc.Error) {
	refused := func(code int64, text string) (message, *jsonrpc.Error) {
		return message{ID: m.ID}, &jsonrpc.Error{Code: code, Message: text}
	}
	if !json.Valid(body) {
		return refused(jsonrpc.CodeParseError, "the body is not valid JSON")
	}
	invalid := func(text string) (message, *jsonrpc.Error) {
		return refused(jsonrpc.CodeInvalidRequest, text)
	}
	switch first := bytes.TrimSpace(body)[0]; {
	case first == '[':
		return invalid("batches are not supported: send one message per request")
	case first != '{':
		return invalid("a message must be a JSON object")
	}
	if err := json.Unmarshal(body, &m); err != nil {
		m.ID = nil
		return invalid("jsonrpc and method must be strings")
	}
	if m.ID != nil && !validID(m.ID) {
		m.ID = nil
		return invalid("id must be a string of at most 256 bytes or an integer")
	}
	if m.Version == nil || *m.Version != "2.0" {
		return invalid(`jsonrpc must be "2.0"`)
	}
	if m.Method == "" && m.Result == nil && m.Error == nil {
		return invalid("method is required")
	}
	return m, nil
}

// maxID is the maximum size of an id, in bytes: every answer repeats it.
const maxID = 256

// validID accepts only integers that a float64 holds exactly, as other
// languages and the SDK decode them so.
func validID(raw json.RawMessage) bool {
	if raw[0] == '"' {
		return len(raw) <= maxID+len(`""`)
	}
	n, err := strconv.ParseInt(string(raw), 10, 64)
	return err == nil && n < 1<<53 && n > -1<<53
}

// refuse writes a JSON-RPC error.
func (m message) refuse(w http.ResponseWriter, status int, e *jsonrpc.Error) {
	body, err := op.Encode(struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   *jsonrpc.Error  `json:"error"`
	}{"2.0", m.ID, e})
	if err != nil {
		guard.Refuse(w, http.StatusInternalServerError, "internal error")
		return
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body) // the client may be gone
}
