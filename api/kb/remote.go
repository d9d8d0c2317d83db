package kb

import (
	"context"
	"encoding/json"
	"errors"
)

// ToolCaller calls tools of other servers; package remote implements it.
type ToolCaller interface {
	// Call calls a tool of the server at an endpoint, which may change something
	// there: no request is sent twice. Its error is ErrCredentials, one of package
	// op with a message for the client, or ctx's.
	Call(ctx context.Context, endpoint, tool string, arguments json.RawMessage) (ToolResult, error)
}

// ErrCredentials: the server answers only clients that identify themselves.
var ErrCredentials = errors.New("the server asks for credentials")

// ToolResult is what a tool of another server answered: a third party's text.
type ToolResult struct {
	Text    string // its first part if Bytes is more
	Bytes   int    // length of the whole text
	IsError bool   // the tool reports a failure
}
