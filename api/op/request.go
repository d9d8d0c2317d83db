package op

import (
	"context"
	"crypto/rand"
	"encoding/hex"
)

// RequestHeader carries the id of a request: in the answer, and from a trusted
// proxy in the request.
const RequestHeader = "X-Request-Id"

type requestKey struct{}

// WithRequest names the request that a context belongs to.
func WithRequest(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, requestKey{}, id)
}

// RequestOf returns the id of the request, "" = none.
func RequestOf(ctx context.Context) string {
	id, _ := ctx.Value(requestKey{}).(string)
	return id
}

// NewRequest makes an id.
func NewRequest() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // it never fails
	return hex.EncodeToString(b[:])
}

// ValidRequest reports whether the id of another may be kept: letters, digits, -
// and _, at most 64.
func ValidRequest(id string) bool {
	for _, c := range id {
		ok := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_'
		if !ok {
			return false
		}
	}
	return id != "" && len(id) <= 64
}

// Internal is the message of an error that is logged and not shown.
func Internal(ctx context.Context) string {
	if id := RequestOf(ctx); id != "" {
		return "internal error; the operator's log has the reason under request " + id
	}
	return "internal error"
}

type strictKey struct{}

// Strict is the context of a call whose caller corrects it and calls again when it is refused: an agent, or a person
// at the command line. Over REST the answer has a hint in its place.
func Strict(ctx context.Context) context.Context { return context.WithValue(ctx, strictKey{}, true) }

// IsStrict reports whether ctx is that of such a call.
func IsStrict(ctx context.Context) bool { return ctx.Value(strictKey{}) != nil }
