// Package outbound is the HTTP client for every address that can come from
// data, a client or configuration. It refuses to connect to loopback, private,
// link-local and metadata addresses, bounds the cost of a response, is polite
// to servers, and returns typed errors.
//
// The guard checks the address of every connection, after name resolution and
// for each redirect, so that neither redirects nor DNS rebinding can reach
// internal hosts. Proxies from the environment are not used: the guard would
// only see the proxy's address. Cookies are neither kept nor sent.
//
// Do and Open read: they may send a request several times. Once is for requests
// that may change something at the server: each is sent only once.
//
// It is a leaf: it imports only leaves of this module, and every package may
// import it.
package outbound

import (
	"cmp"
	"context"
	"io"
	"net"
	"net/http"
	"net/netip"
	"regexp"
	"sync"
	"time"
)

// Defaults of a Config.
const (
	DefaultUserAgent = "almanac"
	DefaultTimeout   = 30 * time.Second
	DefaultMaxBody   = 32 << 20
	DefaultPerHost   = 2
)

// MinRate is the least rate of a body that is read for longer than the timeout,
// in bytes per second: at less, a server holds its source up.
const MinRate = 4 << 10

// Config configures a Client. The zero value of every field works.
type Config struct {
	// Allow lists private networks that connections are allowed to.
	Allow     []netip.Prefix
	UserAgent string
	// Timeout bounds one try of Do and one request of Once, body included. For
	// Open it bounds the wait for the header and for each further piece of the
	// body, which must also arrive at MinRate once that long was waited for it.
	Timeout time.Duration
	// MaxBody is the maximum size of a body in bytes, decompressed.
	MaxBody int64
	// PerHost is the maximum number of concurrent requests to a host.
	PerHost int
	// Transport replaces the network, for networks whose servers are files of
	// the program; nil makes guarded connections.
	Transport http.RoundTripper
	Now       func() time.Time
	// Wait pauses between tries until d has passed or ctx is done, and returns
	// ctx's error; nil uses the system clock.
	Wait func(ctx context.Context, d time.Duration) error
}

// Request is a request for Do and Open, which may send it several times.
type Request struct {
	Method string // GET if empty
	URL    string
	Header http.Header
	Body   []byte
	// ETag and LastModified identify the caller's copy: a "not modified"
	// response is then not an error.
	ETag, LastModified string
	// MaxBody overrides the client's limit if it is not 0.
	MaxBody int64
	// Accept lists the media types that the caller can read ("text/*" matches
	// all text types); a response that declares another is ErrContentType.
	Accept []string
}

// Response is a response with status 2xx, or 304 to a conditional request.
type Response struct {
	Status int
	Header http.Header
	Body   []byte // nil from Open
	URL    string // after redirects
	// ETag and LastModified are for the next request; they equal those of the
	// request if the response is "not modified".
	ETag, LastModified string
	NotModified        bool
}

var nextLink = regexp.MustCompile(`(?i)<([^<>]*)>[^<>]*;\s*rel="?\s*next\s*"?\s*(?:[;,]|$)`)

// Next returns the address of the next page of a list, relative to the response's:
// that of its Link header (RFC 8288); "" for none.
func (r Response) Next() string {
	for _, value := range r.Header.Values("Link") {
		if m := nextLink.FindStringSubmatch(value); m != nil {
			return m[1]
		}
	}
	return ""
}

// Client makes guarded requests. It may be used concurrently.
type Client struct {
	config    Config
	dialer    *net.Dialer
	transport *http.Transport // without http.Client, which handles redirects its own way
	slots     *slots
	own       *own // nil: requests to any address may use the allowed networks
}

// slots has one for each running request to a host.
type slots struct {
	mu    sync.Mutex
	hosts map[string]chan struct{}
}

// New makes a client.
func New(c Config) *Client {
	c.UserAgent = cmp.Or(c.UserAgent, DefaultUserAgent)
	if c.Timeout <= 0 {
		c.Timeout = DefaultTimeout
	}
	if c.MaxBody <= 0 {
		c.MaxBody = DefaultMaxBody
	}
	if c.PerHost <= 0 {
		c.PerHost = DefaultPerHost
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Wait == nil {
		c.Wait = wait
	}
	made := &Client{config: c, slots: &slots{hosts: map[string]chan struct{}{}}}
	made.dialer, made.transport = dial(c, guard(c.Allow))
	return made
}

// dial creates what makes connections, each checked by a guard.
func dial(c Config, guard control) (*net.Dialer, *http.Transport) {
	dialer := &net.Dialer{Timeout: c.Timeout, Control: guard}
	transport := connect(c, dialer)
	transport.ForceAttemptHTTP2 = true
	transport.MaxIdleConns = 32
	transport.MaxIdleConnsPerHost = c.PerHost
	transport.IdleConnTimeout = 30 * time.Second
	return dialer, transport
}

// connect creates a transport with guarded connections, which both ways of
// sending use.
func connect(c Config, dialer *net.Dialer) *http.Transport {
	return &http.Transport{
		DialContext:            dialer.DialContext,
		TLSHandshakeTimeout:    c.Timeout,
		MaxResponseHeaderBytes: 256 << 10,
	}
}

// Do sends a request and reads the response. It tries up to four times while
// the server is overloaded (429, 503) or failing (5xx, broken connections),
// after the time given by Retry-After or growing pauses; it does not retry if
// the server asks for more than a minute.
//
// Its error wraps ErrRefused, ErrTooLarge, ErrContentType, ErrTruncated, a
// *StatusError or ctx's, and names the address without user, query and
// fragment, which may hold secrets. With a *StatusError the response has the
// status, the header and the first 4 KiB of the body.
func (c *Client) Do(ctx context.Context, r Request) (Response, error) {
	return c.tries(ctx, r, func(ctx context.Context) (Response, error) { return c.whole(ctx, r) })
}

// Open is Do for large bodies: the caller reads the body as it arrives and must
// close it. Reading it may fail with ErrTruncated, ErrTooLarge or a timeout;
// what was read before is not repeated. The body of a "not modified" response
// is empty.
func (c *Client) Open(ctx context.Context, r Request) (io.ReadCloser, Response, error) {
	var body io.ReadCloser
	resp, err := c.tries(ctx, r, func(ctx context.Context) (resp Response, err error) {
		body, resp, err = c.stream(ctx, r)
		return resp, err
	})
	return body, resp, err
}

// roundTripper returns what sends a request that may use the allowed networks,
// or not.
func (c *Client) roundTripper(allowed bool) http.RoundTripper {
	switch {
	case c.config.Transport != nil:
		return c.config.Transport
	case !allowed:
		return c.own.others
	}
	return c.transport
}

// Close ends idle connections. The client can still be used.
func (c *Client) Close() {
	c.transport.CloseIdleConnections()
	if c.own != nil {
		c.own.others.CloseIdleConnections()
	}
}

// acquire waits for one of the host's slots and returns the function that
// releases it.
func (c *Client) acquire(ctx context.Context, host string) (release func(), err error) {
	c.slots.mu.Lock()
	slots, ok := c.slots.hosts[host]
	if !ok {
		slots = make(chan struct{}, c.config.PerHost)
		c.slots.hosts[host] = slots
	}
	c.slots.mu.Unlock()
	select {
	case slots <- struct{}{}:
		return sync.OnceFunc(func() { <-slots }), nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
