package outbound

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"
)

// Errors of a request, wrapped with the detail.
var (
	// ErrRefused: the guard does not allow the address, or a redirect to it.
	ErrRefused = errors.New("address refused")
	// ErrTooLarge: the body exceeds its limit.
	ErrTooLarge = errors.New("answer too large")
	// ErrContentType: the response has a type that was not requested.
	ErrContentType = errors.New("unexpected content type")
	// ErrTruncated: the connection ended before the body did.
	ErrTruncated = errors.New("answer truncated")
	// ErrTimeout: the response did not arrive in time.
	ErrTimeout = errors.New("timed out")
)

// StatusError is a response with an unsuccessful status.
type StatusError struct {
	Status int
	// RetryAfter is how long the server asks to wait; 0 if it does not say.
	RetryAfter time.Duration
}

func (e *StatusError) Error() string {
	text := fmt.Sprintf("%d %s", e.Status, http.StatusText(e.Status))
	if e.RetryAfter > 0 {
		text += fmt.Sprintf(", retry after %s", e.RetryAfter.Round(time.Second))
	}
	return text
}

// StatusOf returns the status of a failed request; 0 if it failed otherwise.
func StatusOf(err error) int {
	if status, ok := errors.AsType[*StatusError](err); ok {
		return status.Status
	}
	return 0
}

// place returns an address for messages: without user, query and fragment.
func place(u *url.URL) string {
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path, RawPath: u.RawPath}).String()
}

// broken converts an error of the transport to ours. ctx is that of the try;
// its cause tells a timeout.
func broken(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return ErrTruncated
	}
	if netError, ok := errors.AsType[net.Error](err); ok && netError.Timeout() {
		return fmt.Errorf("%w: %w", ErrTimeout, err)
	}
	return err
}

// passing reports whether an error is temporary, so that a retry may succeed.
func passing(err error) bool {
	status, answered := errors.AsType[*StatusError](err)
	dns, unresolved := errors.AsType[*net.DNSError](err)
	_, untrusted := errors.AsType[*tls.CertificateVerificationError](err)
	switch blame := BlameOf(err); {
	case errors.Is(err, ErrTimeout), untrusted, unresolved && dns.IsNotFound,
		answered && status.Status == http.StatusNotImplemented:
		return false
	default:
		return blame == Busy || blame == Server
	}
}
