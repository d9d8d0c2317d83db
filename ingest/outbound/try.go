package outbound

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v5"

	"almanac/text/dates"
)

const (
	maxTries   = 4
	firstPause = 500 * time.Millisecond
	maxPause   = time.Minute // longest Retry-After that we wait for
	excerpt    = 4 << 10     // bytes of a failure's body
)

// tries repeats try while its error is temporary.
func (c *Client) tries(ctx context.Context, r Request, try func(context.Context) (Response, error)) (Response, error) {
	u, err := parse(r.URL)
	if err != nil {
		return Response{}, fmt.Errorf("%s: %w", method(r), err)
	}
	pauses := &backoff.ExponentialBackOff{InitialInterval: firstPause, RandomizationFactor: 0.5, Multiplier: 2,
		MaxInterval: maxPause}
	pauses.Reset()
	for n := 1; ; n++ {
		resp, err := try(ctx)
		if err == nil {
			return resp, nil
		}
		pause := pauses.NextBackOff()
		if status, ok := errors.AsType[*StatusError](err); ok && status.RetryAfter > 0 {
			pause = status.RetryAfter
		}
		if ctx.Err() == nil && n < maxTries && pause <= maxPause && passing(err) {
			err = c.config.Wait(ctx, pause)
			if err == nil {
				continue
			}
		}
		return resp, fmt.Errorf("%s %s: %w", method(r), place(u), err)
	}
}

func method(r Request) string { return cmp.Or(r.Method, http.MethodGet) }

// whole is one try of Do.
func (c *Client) whole(ctx context.Context, r Request) (Response, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, c.config.Timeout, ErrTimeout)
	defer cancel()
	body, resp, err := c.stream(ctx, r)
	if err != nil {
		return resp, err
	}
	defer body.Close()
	resp.Body, err = io.ReadAll(body)
	return resp, err
}

// stream is one try up to the body.
func (c *Client) stream(ctx context.Context, r Request) (io.ReadCloser, Response, error) {
	req, err := c.request(ctx, r)
	if err != nil {
		return nil, Response{}, err
	}
	allowed := c.owns(req.URL)
	for hop := 0; ; hop++ {
		b, resp, err := c.send(c.roundTripper(allowed), req, cmp.Or(r.MaxBody, c.config.MaxBody))
		if err != nil {
			return nil, Response{}, err
		}
		follow, err := next(req, resp)
		if err == nil && follow != nil && hop == maxHops {
			err = fmt.Errorf("%w: more than %d redirects", ErrRefused, maxHops)
		}
		if err == nil && follow == nil {
			answer, err := answered(r, resp, b, c.config.Now())
			if err != nil {
				b.Close()
				return nil, answer, err
			}
			return b, answer, nil
		}
		b.Close()
		if err != nil {
			return nil, Response{}, err
		}
		allowed = allowed && c.owns(follow.URL) && (c.own == nil || follow.URL.Hostname() == req.URL.Hostname())
		req = follow
	}
}

func (c *Client) request(ctx context.Context, r Request) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, method(r), r.URL, bytes.NewReader(r.Body))
	if err != nil {
		return nil, fmt.Errorf("%w: not a valid request", ErrRefused) // the error text contains the address
	}
	for name, values := range r.Header {
		req.Header[http.CanonicalHeaderKey(name)] = values
	}
	if password, ok := req.URL.User.Password(); ok && req.Header.Get("Authorization") == "" {
		req.SetBasicAuth(req.URL.User.Username(), password)
	}
	req.Header.Set("User-Agent", c.config.UserAgent)
	if len(r.Accept) > 0 {
		req.Header.Set("Accept", strings.Join(r.Accept, ", "))
	}
	if r.ETag != "" {
		req.Header.Set("If-None-Match", r.ETag)
	}
	if r.LastModified != "" {
		req.Header.Set("If-Modified-Since", r.LastModified)
	}
	return req, nil
}

// send makes one exchange. The body releases the host's slot and the timeout.
func (c *Client) send(by http.RoundTripper, req *http.Request, limit int64) (*body, *http.Response, error) {
	release, err := c.acquire(req.Context(), req.URL.Host)
	if err != nil {
		return nil, nil, context.Cause(req.Context())
	}
	ctx, cancel := context.WithCancelCause(req.Context())
	b := &body{ctx: ctx, limit: limit, left: limit, idle: c.config.Timeout, release: release, cancel: cancel}
	b.timer = time.AfterFunc(b.idle, func() { cancel(ErrTimeout) })
	resp, err := by.RoundTrip(req.WithContext(ctx))
	if err != nil {
		err = broken(ctx, err)
		b.Close()
		return nil, nil, err
	}
	b.timer.Stop()
	b.from = resp.Body
	return b, resp, nil
}

// answered checks the response before its body is read.
func answered(r Request, resp *http.Response, b *body, now time.Time) (Response, error) {
	from := *resp.Request.URL
	from.User = nil
	answer := Response{
		Status: resp.StatusCode, Header: resp.Header, URL: from.String(),
		ETag: resp.Header.Get("ETag"), LastModified: resp.Header.Get("Last-Modified"),
	}
	if resp.StatusCode == http.StatusNotModified && (r.ETag != "" || r.LastModified != "") {
		answer.ETag, answer.LastModified, answer.NotModified = r.ETag, r.LastModified, true
		return answer, nil
	}
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		answer.Body, _ = io.ReadAll(io.LimitReader(b, excerpt)) // as much as is there
		return answer, &StatusError{Status: resp.StatusCode,
			RetryAfter: retryAfter(resp.Header.Get("Retry-After"), now)}
	}
	if resp.ContentLength > b.left && r.Method != http.MethodHead {
		return answer, fmt.Errorf("%w: %d bytes, the limit is %d", ErrTooLarge, resp.ContentLength, b.left)
	}
	if coding := resp.Header.Get("Content-Encoding"); coding != "" && !strings.EqualFold(coding, "identity") {
		return answer, fmt.Errorf("%w: encoded as %.40q", ErrContentType, coding)
	}
	if kind := resp.Header.Get("Content-Type"); kind != "" && len(r.Accept) > 0 && !accepted(kind, r.Accept) {
		return answer, fmt.Errorf("%w: %.100q", ErrContentType, kind)
	}
	return answer, nil
}

// accepted reports whether a content type is one of the media types. A missing
// or malformed content type is accepted.
func accepted(contentType string, accept []string) bool {
	kind, _, err := mime.ParseMediaType(contentType)
	if err != nil && kind == "" {
		return true
	}
	for _, a := range accept {
		family, all := strings.CutSuffix(a, "/*")
		if strings.EqualFold(kind, a) || all && strings.HasPrefix(kind, strings.ToLower(family)+"/") || a == "*/*" {
			return true
		}
	}
	return false
}

// retryAfter reads a Retry-After: seconds or a date (RFC 9110, 10.2.3).
func retryAfter(value string, now time.Time) time.Duration {
	value = strings.TrimSpace(value)
	if n, err := strconv.ParseInt(value, 10, 32); err == nil {
		return max(0, time.Duration(n)*time.Second)
	}
	if at, shape := dates.Parse(value, dates.Instant|dates.Local|dates.Free); shape != 0 {
		return max(0, at.Sub(now))
	}
	return 0
}

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
