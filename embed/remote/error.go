package remote

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/cenkalti/backoff/v5"

	"almanac/embed"
	"almanac/text/prose"
)

// Error is a failed request in one sentence. It wraps embed.ErrUnavailable if
// the server may work later.
type Error struct {
	Status int // of the response; 0 without one

	text  string
	cause error // nil: the status
	kind  kind
}

func (e *Error) Error() string { return e.text }

// Unwrap returns the cause, and embed.ErrUnavailable of a server that may work later.
func (e *Error) Unwrap() []error {
	var wrapped []error
	if e.cause != nil {
		wrapped = append(wrapped, e.cause)
	}
	if e.kind == away || e.kind == busy || e.kind == slow {
		wrapped = append(wrapped, embed.ErrUnavailable)
	}
	return wrapped
}

// kind says what can be done about a failure.
type kind int

const (
	final   kind = iota // nothing
	away                // unreachable; the caller may try again later
	busy                // the same request may succeed soon
	slow                // no response in time; fewer texts may be in time
	long                // a text is too long for the model
	refused             // other texts, or fewer, may succeed
)

// kindOf is final for an error of another package.
func kindOf(err error) kind {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.kind
	}
	return final
}

// TooLong reports whether the server refused a text for its length.
func TooLong(err error) bool { return kindOf(err) == long }

const maxShown = 300 // bytes of a server's message

// message extracts the message from the body of an error: JSON in one of the usual shapes, or text.
func message(body []byte) string {
	text := string(body)
	var answer struct{ Error, Message, Detail any }
	if json.Unmarshal(body, &answer) == nil {
		text = cmp.Or(sentenceOf(answer.Error), sentenceOf(answer.Message), sentenceOf(answer.Detail))
	}
	if strings.HasPrefix(strings.TrimSpace(text), "<") {
		text = "" // an HTML page of a proxy
	}
	text = strings.Join(strings.FieldsFunc(strings.ToValidUTF8(text, ""), func(r rune) bool {
		return r <= ' ' || r == 0x7f
	}), " ")
	return prose.FirstBytes(text, maxShown)
}

// sentenceOf returns a field of an error that is a text, or an object with one.
func sentenceOf(field any) string {
	if object, ok := field.(map[string]any); ok {
		field = object["message"]
	}
	text, _ := field.(string)
	return text
}

// lengthMessage matches how servers refuse a text that is too long for the model:
// Ollama ("the input length exceeds the context length"), OpenAI and vLLM
// ("maximum context length is … tokens"), llama.cpp ("input is too large to
// process", "larger than the max context size") and TEI ("must have less than 512
// tokens").
var lengthMessage = regexp.MustCompile(`(?i)context (length|size|window)|input (is|length) too (large|long)|` +
	`(less|fewer) than \d+ tokens|` +
	`maximum (input|sequence) length|too many tokens`)

// ended returns the error of a call that was cancelled, or timed out: then the server was too slow.
func ended(ctx context.Context, server fmt.Stringer) error {
	cause := context.Cause(ctx)
	if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return fmt.Errorf("%s: %w", server, cause)
	}
	why := "no answer in time"
	if !errors.Is(cause, context.DeadlineExceeded) { // a caller's own cause says more
		why = cause.Error()
	}
	return &Error{text: fmt.Sprintf("%s is unavailable: %s", server, why), cause: cause, kind: away}
}

// Explain turns a library's error of a request into one of this package; nil stays
// nil. ctx is the caller's: a cancelled call is not a failure of the server, a
// timeout is.
func (c *Client) Explain(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return ended(ctx, c)
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		err = wrapped.Err // without the URL
	}
	e := &Error{cause: err}
	say := func(k kind, format string, args ...any) error {
		e.kind, e.text = k, c.String()+" "+fmt.Sprintf(format, args...)
		return e
	}
	_, isNet := errors.AsType[net.Error](err)
	_, tooLarge := errors.AsType[*http.MaxBytesError](err)
	switch {
	case errors.Is(err, errNumber):
		return say(refused, "returned an invalid vector: %v", err)
	case isShape(err):
		return say(final, "returned an unexpected response, is the address right? (%s)",
			prose.FirstBytes(err.Error(), maxShown))
	case tooLarge:
		return say(refused, "returned more than %d MiB", maxAnswer>>20)
	case errors.Is(err, context.DeadlineExceeded):
		return say(slow, "is unavailable: no answer within %s", c.timeout)
	case errors.Is(err, syscall.ECONNREFUSED):
		return say(away, "is unavailable: nothing listens there")
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE), errors.Is(err, io.EOF),
		errors.Is(err, io.ErrUnexpectedEOF):
		return say(busy, "is unavailable: it closed the connection before its answer was complete")
	case isNet:
		return say(away, "is unavailable: %v", err)
	}
	return say(final, "failed: %v", err)
}

// isShape recognises responses that are not HTTP, not JSON, or JSON of an unexpected shape.
func isShape(err error) bool {
	_, syntax := errors.AsType[*json.SyntaxError](err)
	_, kind := errors.AsType[*json.UnmarshalTypeError](err)
	// net/http has no type for it
	return syntax || kind || strings.Contains(err.Error(), "malformed HTTP")
}

// refusal explains an unsuccessful response.
func (t transport) refusal(response *http.Response, body []byte) *Error {
	status := strings.TrimSpace(fmt.Sprintf("%d %s", response.StatusCode, http.StatusText(response.StatusCode)))
	said := message(body)
	if t.key != "" {
		said = strings.ReplaceAll(said, t.key, "[key]")
	}
	if said != "" {
		status += ": " + said
	}
	e := &Error{Status: response.StatusCode}
	to, err := response.Location()
	switch {
	case err == nil:
		e.text = fmt.Sprintf("%s redirects to %s, which is not followed: give the address it redirects to", t.server,
			(&url.URL{Scheme: to.Scheme, Host: to.Host}).String())
	case e.Status == http.StatusUnauthorized, e.Status == http.StatusForbidden:
		verb := "wants a key"
		if t.key != "" {
			verb = "refuses the key"
		}
		e.text = fmt.Sprintf("%s %s (%s)", t.server, verb, status)
	case e.Status == http.StatusNotFound:
		e.text = fmt.Sprintf("%s returned %s: are its address and the model's name right?", t.server,
			strings.TrimRight(status, "."))
	case lengthMessage.MatchString(said):
		e.kind, e.text = long, fmt.Sprintf("%s refuses a text for its length (%s)", t.server, status)
	case e.Status == http.StatusTooManyRequests, e.Status >= 502 && e.Status <= 504:
		e.kind, e.cause = waits(response.Header.Get("Retry-After"))
		e.text = fmt.Sprintf("%s is unavailable: it returned %s", t.server, status)
	default:
		e.kind, e.text = refused, fmt.Sprintf("%s returned %s", t.server, status)
	}
	return e
}

// waits reads how many seconds a busy server asks to wait. The error tells them to
// package backoff; nil: the server does not say.
func waits(retryAfter string) (kind, error) {
	seconds, err := strconv.Atoi(retryAfter)
	switch {
	case err != nil || seconds <= 0:
		return busy, nil
	case time.Duration(seconds) > maxPause/time.Second:
		return away, nil
	}
	return busy, backoff.RetryAfter(seconds)
}
