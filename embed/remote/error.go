package remote

import (
	"context"
	"crypto/tls"
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

	"almanac/embed"
	"almanac/text/prose"
)

// Error is a failed request in one sentence. It wraps embed.ErrUnavailable if
// the server may work later.
type Error struct {
	Status int // of the response; 0 without one

	text  string
	cause error
	kind  kind
	after time.Duration // how long the server asks to wait
}

func (e *Error) Error() string   { return e.text }
func (e *Error) Unwrap() []error { return e.kind.wrap(e.cause) }

// kind says what can be done about a failure.
type kind int

const (
	final   kind = iota // nothing
	away                // unreachable; the caller may try again later
	later               // the same request may succeed soon
	toomuch             // a smaller batch may succeed
	toolong             // a shorter text may succeed
	slow                // no response in time; a smaller batch may be in time
	onetext             // other texts may succeed
)

func (k kind) wrap(cause error) []error {
	switch k {
	case away, later, slow:
		return []error{cause, embed.ErrUnavailable}
	}
	return []error{cause}
}

// kindOf is final for an error of another package.
func kindOf(err error) kind {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.kind
	}
	return final
}

// TooLong reports whether the server refused a text for its length.
func TooLong(err error) bool { return kindOf(err) == toolong }

var errTooLarge = errors.New("answer too large")

// refusal is an unsuccessful response.
type refusal struct {
	status   int
	message  string        // of the server, one line, without the key
	location string        // scheme and host of a redirect's target
	after    time.Duration // Retry-After
	hadKey   bool
}

func (r *refusal) Error() string { return http.StatusText(r.status) }

func newRefusal(response *http.Response, body []byte, key string) *refusal {
	r := &refusal{status: response.StatusCode, message: message(body), hadKey: key != ""}
	if key != "" {
		r.message = strings.ReplaceAll(r.message, key, "[key]")
	}
	if seconds, err := strconv.Atoi(response.Header.Get("Retry-After")); err == nil && seconds > 0 {
		r.after = time.Duration(seconds) * time.Second
	}
	if to, err := response.Location(); err == nil {
		r.location = (&url.URL{Scheme: to.Scheme, Host: to.Host}).String()
	}
	return r
}

const maxShown = 300 // bytes of a server's message

// message extracts the message from the body of an error: JSON in one of the usual shapes, or text.
func message(body []byte) string {
	var text string
	var answer struct{ Error, Message, Detail json.RawMessage }
	var inner struct{ Message string }
	if json.Unmarshal(body, &answer) == nil {
		for _, raw := range []json.RawMessage{answer.Error, answer.Message, answer.Detail} {
			switch {
			case json.Unmarshal(raw, &text) == nil && text != "":
			case json.Unmarshal(raw, &inner) == nil && inner.Message != "":
				text = inner.Message
			default:
				continue
			}
			break
		}
	} else if text = string(body); strings.HasPrefix(strings.TrimSpace(text), "<") {
		text = "" // an HTML page of a proxy
	}
	text = strings.Join(strings.FieldsFunc(strings.ToValidUTF8(text, ""), func(r rune) bool {
		return r <= ' ' || r == 0x7f
	}), " ")
	return prose.FirstBytes(text, maxShown)
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
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		err = wrapped.Err // without the URL
	}
	if r, ok := errors.AsType[*refusal](err); ok {
		return c.refused(r)
	}
	e := &Error{cause: err}
	say := func(k kind, format string, args ...any) error {
		e.kind, e.text = k, c.String()+" "+fmt.Sprintf(format, args...)
		return e
	}
	if dns, ok := errors.AsType[*net.DNSError](err); ok {
		return say(away, "is unavailable: the name %s cannot be resolved", dns.Name)
	}
	if certificate, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return say(final, "has a certificate that is not accepted: %v", certificate.Err)
	}
	if _, ok := errors.AsType[tls.RecordHeaderError](err); ok || errors.Is(err, http.ErrSchemeMismatch) {
		return say(final, "does not speak TLS: its address begins with http://")
	}
	if alert, ok := errors.AsType[tls.AlertError](err); ok {
		return say(final, "refuses the TLS connection: %v", alert)
	}
	if errors.Is(err, errNumber) {
		return say(onetext, "returned an invalid vector: %v", err)
	}
	if isShape(err) {
		return say(final, "returned an unexpected response, is the address right? (%s)", prose.FirstBytes(err.Error(), maxShown))
	}
	netError, isNet := errors.AsType[net.Error](err)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return say(slow, "is unavailable: no answer within %s", c.timeout)
	case isNet && netError.Timeout():
		return say(away, "is unavailable: no connection in time")
	case errors.Is(err, syscall.ECONNREFUSED):
		return say(away, "is unavailable: nothing listens there")
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE), errors.Is(err, io.EOF),
		errors.Is(err, io.ErrUnexpectedEOF):
		return say(later, "is unavailable: it closed the connection before its answer was complete")
	case isNet:
		return say(away, "is unavailable: %v", err)
	case errors.Is(err, errTooLarge):
		return say(toomuch, "returned more than %d MiB", maxAnswer>>20)
	}
	return say(final, "failed: %v", err)
}

// isShape recognises responses that are not HTTP, not JSON, or JSON of an unexpected shape.
func isShape(err error) bool {
	_, syntax := errors.AsType[*json.SyntaxError](err)
	_, kind := errors.AsType[*json.UnmarshalTypeError](err)
	// net/http has no type for it
	return syntax || kind || errors.Is(err, errShape) || strings.Contains(err.Error(), "malformed HTTP")
}

// refused explains an unsuccessful response.
func (c *Client) refused(r *refusal) error {
	status := strings.TrimSpace(fmt.Sprintf("%d %s", r.status, http.StatusText(r.status)))
	if r.message != "" {
		status += ": " + r.message
	}
	e := &Error{Status: r.status, cause: r, after: r.after}
	switch {
	case r.location != "":
		e.text = fmt.Sprintf("%s redirects to %s, which is not followed: give the address it redirects to", c,
			r.location)
	case r.status == http.StatusUnauthorized, r.status == http.StatusForbidden:
		verb := "wants a key"
		if r.hadKey {
			verb = "refuses the key"
		}
		e.text = fmt.Sprintf("%s %s (%s)", c, verb, status)
	case r.status == http.StatusNotFound:
		e.text = fmt.Sprintf("%s returned %s: are its address and the model's name right?", c,
			strings.TrimRight(status, "."))
	case lengthMessage.MatchString(r.message):
		e.kind, e.text = toolong, fmt.Sprintf("%s refuses a text for its length (%s)", c, status)
	case r.status == http.StatusTooManyRequests, r.status >= 502 && r.status <= 504:
		e.kind, e.text = later, fmt.Sprintf("%s is unavailable: it returned %s", c, status)
	case r.status >= 500, r.status == http.StatusRequestEntityTooLarge, r.status == http.StatusFailedDependency,
		r.status == http.StatusRequestTimeout:
		e.kind, e.text = toomuch, fmt.Sprintf("%s returned %s", c, status)
	case r.status == http.StatusBadRequest, r.status == http.StatusUnprocessableEntity:
		e.kind, e.text = onetext, fmt.Sprintf("%s returned %s", c, status)
	default:
		e.text = fmt.Sprintf("%s returned %s", c, status)
	}
	return e
}
