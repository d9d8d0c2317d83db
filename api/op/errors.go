package op

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"almanac/text/nearest"
)

// Sentinels of operations, which each interface maps. An error that wraps none
// of them is internal: logged, never shown.
var (
	// ErrInvalid: an argument is malformed or out of range. 400.
	ErrInvalid = errors.New("invalid argument")
	// ErrNotFound: the id is well formed but does not exist. 404.
	ErrNotFound = errors.New("not found")
	// ErrUnavailable: there is no answer yet, or none at the moment. 503.
	ErrUnavailable = errors.New("unavailable")
)

// Error is a sentinel with a message for the user and, for ErrUnavailable, the
// time to wait before trying again.
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

// InvalidField is Invalid for one argument: each interface prefixes the message
// with its own name of the argument.
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
	Message    string // for the user, without internals
	RetryAfter time.Duration
}

// unreachable is the wait before the next try while the catalog's server is away.
const unreachable = 5 * time.Second

// Explain returns the part of an error that the user may see.
func Explain(err error) Failure {
	if e, ok := errors.AsType[*Error](err); ok {
		return Failure{Kind: e.Kind, Message: e.Error(), RetryAfter: e.RetryAfter}
	}
	for _, kind := range []error{ErrInvalid, ErrNotFound, ErrUnavailable} {
		if errors.Is(err, kind) {
			return Failure{Kind: kind, Message: kind.Error()}
		}
	}
	if _, ok := errors.AsType[interface {
		error
		Unreachable()
	}](err); ok {
		return Failure{Kind: ErrUnavailable, Message: "the catalog does not answer; try again in a moment",
			RetryAfter: unreachable}
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

// Loading is the error of an operation that needs the first index before it is
// complete; progress runs from 0 to 1, obstacles are the reasons for a delay.
func Loading(progress float64, obstacles ...string) error {
	text := fmt.Sprintf("loading, %d %%", int(100*progress))
	if len(obstacles) > 0 {
		text += ": " + strings.Join(obstacles, "; ")
	}
	return Unavailable(5*time.Second, "%s", text)
}

// maxEcho is how many characters of a client's input an error repeats at most.
const maxEcho = 80

// Cut returns the input of a client as an error may repeat it.
func Cut(input string) string {
	if utf8.RuneCountInString(input) <= maxEcho {
		return input
	}
	return string([]rune(input)[:maxEcho-1]) + "…"
}

// Quote is Cut in quotation marks.
func Quote(input string) string { return strconv.Quote(Cut(input)) }

// ErrorJSON is the body of every JSON error: {"error": message}.
func ErrorJSON(message string) []byte {
	b, _ := json.Marshal(map[string]string{"error": message}) // a string always encodes
	return b
}

// checkKnown rejects arguments the tool does not take: a misspelt optional one
// would otherwise be ignored silently.
func (o Operation) checkKnown(members map[string]json.RawMessage) error {
	known := o.arguments()
	given := slices.DeleteFunc(slices.Sorted(maps.Keys(members)), func(name string) bool {
		return slices.Contains(known, name)
	})
	return unknownArgument(given, known, o.Tool)
}

// checkSpelling rejects an unknown parameter of REST that is near a known one.
func (o Operation) checkSpelling(query url.Values, members map[string]json.RawMessage) error {
	given := slices.Collect(maps.Keys(members))
	var known []string
	for name := range query {
		given = append(given, name)
	}
	for _, p := range o.Params {
		if p.REST && !p.Path {
			known = append(known, p.Name)
		}
	}
	slices.Sort(given)
	for _, name := range given {
		if len(name) < minMisspelt || len(name) > maxEcho || slices.Contains(known, name) {
			continue
		}
		if near := nearest.Of(name, known); len(near) >= minMisspelt && !slices.Contains(given, near) {
			return Invalid("unknown parameter %s: did you mean %q?", Quote(name), near)
		}
	}
	return nil
}

// minMisspelt is the length from which a name is compared with known ones: any
// two letters are near each other.
const minMisspelt = 3

// unknownArgument returns the error about the first of the given names; nil if
// there are none.
func unknownArgument(given, known []string, operation string) error {
	if len(given) == 0 {
		return nil
	}
	name := Quote(given[0])
	if len(known) == 0 {
		return Invalid("unknown argument %s: %s takes none", name, operation)
	}
	if near := nearest.Of(given[0], known); near != "" {
		return Invalid("unknown argument %s: did you mean %q?", name, near)
	}
	return Invalid("unknown argument %s: %s takes %s", name, operation, strings.Join(known, ", "))
}
