package op

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Sentinels of operations. Every interface maps them once; an error that
// wraps none of them is internal: logged, never shown.
var (
	// ErrInvalid: an argument is malformed or out of range. 400.
	ErrInvalid = errors.New("invalid argument")
	// ErrNotFound: the id is well formed and nothing has it. 404.
	ErrNotFound = errors.New("not found")
	// ErrUnavailable: the answer does not exist yet, or not now. 503.
	ErrUnavailable = errors.New("unavailable")
)

// Error is a sentinel with words for the user and, for ErrUnavailable, when
// to try again.
type Error struct {
	Kind       error
	Field      string // the argument it is about, by its name on REST; "": none
	Message    string
	RetryAfter time.Duration
}

func (e *Error) Error() string {
	if e.Field != "" {
		return e.Field + " " + e.Message
	}
	return e.Message
}

func (e *Error) Unwrap() error { return e.Kind }

// Invalid, NotFound and Unavailable make errors with a message for the user.
func Invalid(format string, args ...any) error {
	return &Error{Kind: ErrInvalid, Message: fmt.Sprintf(format, args...)}
}

// InvalidField is Invalid about one argument: each interface puts its own name
// of the argument before the message.
func InvalidField(field, format string, args ...any) error {
	return &Error{Kind: ErrInvalid, Field: field, Message: fmt.Sprintf(format, args...)}
}

func NotFound(format string, args ...any) error {
	return &Error{Kind: ErrNotFound, Message: fmt.Sprintf(format, args...)}
}

func Unavailable(after time.Duration, format string, args ...any) error {
	return &Error{Kind: ErrUnavailable, Message: fmt.Sprintf(format, args...), RetryAfter: after}
}

// Failure is an error as every interface shows it.
type Failure struct {
	// Kind is the sentinel, context.DeadlineExceeded or context.Canceled; nil:
	// internal, to be logged.
	Kind       error
	Message    string // for the user; says nothing of internals
	RetryAfter time.Duration
}

// Explain sorts an error by what the user may know of it.
func Explain(err error) Failure {
	if e, ok := errors.AsType[*Error](err); ok {
		return Failure{Kind: e.Kind, Message: e.Error(), RetryAfter: e.RetryAfter}
	}
	for _, kind := range []error{ErrInvalid, ErrNotFound, ErrUnavailable} {
		if errors.Is(err, kind) {
			return Failure{Kind: kind, Message: kind.Error()}
		}
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return Failure{Kind: context.DeadlineExceeded, Message: "it took too long; ask for less, or try again later"}
	case errors.Is(err, context.Canceled):
		return Failure{Kind: context.Canceled, Message: "canceled"}
	}
	return Failure{Message: "internal error"}
}

// ExplainTool is Explain with the tool's names of arguments.
func (o Operation) ExplainTool(err error) Failure {
	if e, ok := errors.AsType[*Error](err); ok && e.Field != "" {
		for _, p := range o.Params {
			if p.Name == e.Field && p.ToolName != "" {
				named := *e
				named.Field = p.ToolName
				err = &named
			}
		}
	}
	return Explain(err)
}

// Loading is the error of an operation that needs the first index while that
// is built; progress runs from 0 to 1, obstacles say what it waits for.
func Loading(progress float64, obstacles ...string) error {
	text := fmt.Sprintf("loading, %d %%", int(100*progress))
	if len(obstacles) > 0 {
		text += ": " + strings.Join(obstacles, "; ")
	}
	return Unavailable(5*time.Second, "%s", text)
}

// ErrorJSON is the body of every JSON error: {"error": message}.
func ErrorJSON(message string) []byte {
	b, _ := json.Marshal(map[string]string{"error": message}) // a string always encodes
	return b
}
