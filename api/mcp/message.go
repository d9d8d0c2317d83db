package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"almanac/api/op"
)

// message is as much of a JSON-RPC message as is needed to refuse it.
type message struct {
	ID     json.RawMessage // nil: it is a notification, or is refused for its id
	Method string          // "": it is an answer
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

// members are the names of an envelope.
var members = []string{"jsonrpc", "id", "method", "params", "result", "error"}

// parseMessage checks the envelope of a message, over HTTP and over stdio. A name is
// there once and spelt as in members: readers differ in which of two they take, and
// what is counted must be what is run. A message that is refused has no method.
func parseMessage(body []byte) (m message, refusal *jsonrpc.Error) {
	refused := func(code int64, text string) (message, *jsonrpc.Error) {
		return message{ID: m.ID}, failure(code, "%s", text)
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
	has, odd := envelope(body)
	if id := has["id"]; id != nil && validID(id) {
		m.ID = id
	}
	switch {
	case odd != "":
		return invalid(odd)
	case has["id"] != nil && m.ID == nil:
		return invalid("id must be a string of at most 256 bytes or an integer")
	}
	var version, method string
	for name, to := range map[string]*string{"jsonrpc": &version, "method": &method} {
		if has[name] != nil && json.Unmarshal(has[name], to) != nil {
			return invalid("jsonrpc and method must be strings")
		}
	}
	if version != "2.0" {
		return invalid(`jsonrpc must be "2.0"`)
	}
	if method == "" && has["result"] == nil && has["error"] == nil {
		return invalid("method is required")
	}
	if _, err := jsonrpc.DecodeMessage(body); err != nil { // its error, or it answers nothing
		return invalid("this is no message: " + op.Cut(err.Error()))
	}
	m.Method = method
	return m, nil
}

// envelope returns the members of a JSON object, and what is wrong with their names; "":
// nothing.
func envelope(object []byte) (has map[string]json.RawMessage, odd string) {
	has = map[string]json.RawMessage{}
	d := json.NewDecoder(bytes.NewReader(object))
	_, err := d.Token() // the brace
	for err == nil && d.More() {
		var name json.Token
		var value json.RawMessage
		if name, err = d.Token(); err == nil {
			err = d.Decode(&value)
		}
		text, _ := name.(string)
		for _, member := range members {
			if text != member && strings.EqualFold(text, member) {
				odd = fmt.Sprintf("%s must be written %s", op.Quote(text), member)
			}
		}
		if has[text] != nil {
			odd, value = fmt.Sprintf("a message has %s once", op.Quote(text)), nil
		}
		has[text] = value
	}
	if err != nil {
		odd = "the message cannot be read"
	}
	return has, odd
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

// failure is a JSON-RPC error.
func failure(code int64, format string, args ...any) *jsonrpc.Error {
	return &jsonrpc.Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// refusal is the answer to a message: a JSON-RPC error.
func (m message) refusal(e *jsonrpc.Error) []byte {
	body, _ := op.Encode(struct { // it always encodes
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   *jsonrpc.Error  `json:"error"`
	}{"2.0", m.ID, e})
	return body
}
