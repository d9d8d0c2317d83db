package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"mime"
	"net/http"
	"slices"
	"strings"

	"almanac/api/op"
)

// Refusal is an error as it is answered.
type Refusal struct {
	Status  int
	Message string // for the client, without internals
	Wait    int    // seconds until another try; 0: another try is no use
	Allow   string // the methods that a path has; "": it is not about the method
}

func (f *Refusal) Error() string { return f.Message }

// JSON is the answer for programs: {"error": message}.
func (f *Refusal) JSON() *Answer {
	return &Answer{Status: f.Status, Type: JSONType, Body: op.ErrorJSON(f.Message)}
}

// statusOf maps the kinds of failure; anything else is 500.
var statusOf = map[error]int{
	op.ErrInvalid:            http.StatusBadRequest,
	op.ErrNotFound:           http.StatusNotFound,
	op.ErrUnavailable:        http.StatusServiceUnavailable,
	context.DeadlineExceeded: http.StatusGatewayTimeout,
}

// Explain returns what a client may know of an error.
func Explain(ctx context.Context, err error) *Refusal {
	if f, ok := errors.AsType[*Refusal](err); ok {
		return f
	}
	e := op.Explain(err)
	f := &Refusal{Status: statusOf[e.Kind], Message: e.Message}
	switch f.Status {
	case 0:
		f.Status, f.Message = http.StatusInternalServerError, op.Internal(ctx)
	case http.StatusServiceUnavailable:
		f.Wait = max(1, int(math.Ceil(e.RetryAfter.Seconds())))
	}
	return f
}

// NotAllowed refuses the method of a request; advice says what to do instead.
func NotAllowed(r *http.Request, allowed, advice string) error {
	text := op.Cut(r.Method) + " is not allowed here"
	if advice == "" {
		text += "; allowed: " + allowed
	} else {
		text += ": " + advice
	}
	return &Refusal{Status: http.StatusMethodNotAllowed, Message: text, Allow: allowed}
}

// Body reads the body of a request, up to the route's MaxBody, and returns which of
// the media types it has.
func Body(r *http.Request, types ...string) (body []byte, kind string, err error) {
	kind, _, err = mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || !slices.Contains(types, kind) {
		return nil, "", &Refusal{Status: http.StatusUnsupportedMediaType,
			Message: "Content-Type must be " + strings.Join(types, " or ")}
	}
	body, err = io.ReadAll(r.Body)
	if large, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return nil, "", &Refusal{Status: http.StatusRequestEntityTooLarge,
			Message: fmt.Sprintf("the body must be at most %d KiB", large.Limit>>10)}
	}
	if err != nil {
		return nil, "", op.Invalid("the body could not be read")
	}
	return body, kind, nil
}
