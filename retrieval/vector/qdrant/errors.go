package qdrant

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"almanac/retrieval/vector"
)

// failure is the error of a call in one sentence.
type failure struct {
	text string
	kind error // vector.ErrUnavailable, a context's error or nil
}

func (f failure) Error() string { return f.text }
func (f failure) Unwrap() error { return f.kind }

// fail turns the error of a call into a sentence for operators: what was done,
// where, and what failed there.
func (x *Index) fail(ctx context.Context, doing string, err error) error {
	switch {
	case x.closed.Load():
		return fmt.Errorf("vector index: %s: %w", doing, ErrClosed)
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return failure{text: fmt.Sprintf("vector index: %s: Qdrant at %s did not answer in time", doing, x.config.Addr),
			kind: ctx.Err()}
	case ctx.Err() != nil:
		return fmt.Errorf("vector index: %s: %w", doing, ctx.Err())
	}
	text, unavailable := x.diagnose(err)
	f := failure{text: fmt.Sprintf("vector index: %s: Qdrant at %s %s", doing, x.config.Addr, text)}
	if unavailable {
		f.kind = vector.ErrUnavailable
	}
	return f
}

// refuse is fail for errors that this package finds in a collection.
func (x *Index) refuse(format string, args ...any) error {
	return failure{text: fmt.Sprintf("vector index: Qdrant at %s: ", x.config.Addr) + fmt.Sprintf(format, args...)}
}

// diagnose says what is wrong with the server, and whether it may recover without help.
func (x *Index) diagnose(err error) (text string, unavailable bool) {
	s := status.Convert(err)
	message := printable(after(s.Message(), " attempts: rpc error: code = Unavailable desc = ")) // of the last one
	has := func(parts ...string) bool {
		for _, p := range parts {
			if strings.Contains(message, p) {
				return true
			}
		}
		return false
	}
	const wrongPort = "is this its gRPC port (6334, not 6333), and does it want TLS?"
	if has("unexpected HTTP status code", "unexpected content-type", "malformed header") { // with various codes
		return "does not answer in gRPC (" + after(message, "unexpected HTTP status code received from server: ") +
			"): " + wrongPort, true
	}
	switch s.Code() {
	case codes.NotFound:
		x.prepared.Store(false) // to be checked by the next call
		return fmt.Sprintf("has no collection %s: it is not built yet, or was removed", x.name), true
	case codes.Unauthenticated:
		if x.config.Key == "" {
			return "wants an API key and none is set", false
		}
		return "refuses the API key", false
	case codes.PermissionDenied:
		return "does not allow this with the API key: " + message, false
	case codes.Unimplemented:
		return "does not know this request: is it Qdrant " + oldestVersion + " or newer?", false
	case codes.DeadlineExceeded:
		return fmt.Sprintf("did not answer within %v", x.config.Timeout), true
	case codes.ResourceExhausted:
		return "is overloaded or out of space: " + message, true
	case codes.Unavailable:
		switch {
		case has("no such host", "produced zero addresses", "record lookup error", "server misbehaving"):
			return "cannot be reached: its host name is not known", true
		case has("first record does not look like a TLS handshake"):
			return "does not speak TLS there: switch TLS off or give the port that does", true
		case has("x509:", "certificate"):
			// Go's hint about the certificate
			reason, _, _ := strings.Cut(after(message, "tls: ", "x509: "), " (possibly because")
			return "shows a certificate that is not accepted: " + reason, true
		case has("authentication handshake failed"):
			return "cannot be reached over TLS: " + after(message, "handshake failed: "), true
		case has("i/o timeout", "deadline exceeded"):
			return "cannot be reached: the connection was not answered", true
		case has("connection refused"):
			return "refuses connections: is it running, and is this its gRPC port?", true
		case has("server preface", "http2: ", "connection reset"): // a server of TLS may do any of them
			return "does not answer in gRPC: " + wrongPort, true
		}
		return "cannot be reached: " + after(message, "connection error: desc = "), true
	case codes.Internal, codes.Unknown:
		if has("No space left on device") {
			return "has no space left on its disk", true
		}
		return "reports an error: " + message, true
	case codes.Aborted, codes.Canceled, codes.FailedPrecondition:
		return "does not do this now: " + message, true
	}
	return fmt.Sprintf("returned %v: %s", s.Code(), message), false
}

// after returns what follows the marks, each if it occurs.
func after(message string, marks ...string) string {
	for _, m := range marks {
		if _, rest, ok := strings.Cut(message, m); ok {
			message = rest
		}
	}
	return strings.Trim(message, `"`)
}

// printable returns a server's text cut and cleaned for a log line.
func printable(text string) string {
	const longest = 300
	text = strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, strings.ToValidUTF8(text, " "))
	if len(text) > longest {
		text = strings.ToValidUTF8(text[:longest], "") + "…"
	}
	return strings.TrimSpace(text)
}

// isCode reports whether a call failed with a code.
func isCode(err error, code codes.Code) bool { return err != nil && status.Code(err) == code }
