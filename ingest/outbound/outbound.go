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
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"time"

	"code.dny.dev/ssrf"

	"almanac/text/webaddress"
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

// body is a response body that fails when it grows too large or stalls. Closing
// it frees the host's slot.
type body struct {
	ctx     context.Context // of the exchange
	from    io.ReadCloser   // nil until the header has arrived
	limit   int64           // maximum bytes
	left    int64           // remaining bytes
	idle    time.Duration
	reading time.Duration // time spent in reads
	timer   *time.Timer   // cancels the exchange
	cancel  context.CancelCauseFunc
	release func()
}

func (b *body) Read(p []byte) (int, error) {
	if b.left < 0 {
		return 0, b.tooLarge()
	}
	b.timer.Reset(b.idle)
	defer b.timer.Stop() // the caller may pause between reads
	if int64(len(p)) > b.left+1 {
		p = p[:b.left+1]
	}
	start := time.Now()
	n, err := b.from.Read(p)
	b.reading += time.Since(start)
	if b.left -= int64(n); b.left < 0 {
		return n - 1, b.tooLarge()
	}
	if err == nil && b.reading > b.idle && float64(b.limit-b.left) < MinRate*b.reading.Seconds() {
		return n, fmt.Errorf("%w: its rate is less than %d bytes per second", ErrTimeout, MinRate)
	}
	if err != nil && !errors.Is(err, io.EOF) {
		err = broken(b.ctx, err)
	}
	return n, err
}

func (b *body) tooLarge() error { return fmt.Errorf("%w: more than %d bytes", ErrTooLarge, b.limit) }

func (b *body) Close() error {
	b.timer.Stop()
	var err error
	if b.from != nil {
		err = b.from.Close()
	}
	b.cancel(nil)
	b.release()
	return err
}

// own is what a source may reach in the allowed private networks: the servers
// that its options name.
type own struct {
	servers map[string]bool // host and port
	others  *http.Transport // connects to no private network
	dialer  *net.Dialer     // of others
}

// For returns a client for a source whose own options name the addresses: only
// their servers may be in the private networks that the client allows, and only
// if a request starts there. What a page, a feed or a redirect leads to is not
// the operator's word. Servers that c has been made for stay. It shares the
// client's slots, and its connections if c was made by For.
func (c *Client) For(addresses ...string) *Client {
	if len(c.config.Allow) == 0 || c.config.Transport != nil {
		return c // there is nothing to keep from others
	}
	made := &Client{config: c.config, slots: c.slots, dialer: c.dialer, transport: c.transport,
		own: &own{servers: map[string]bool{}}}
	if c.own == nil {
		made.dialer, made.transport = dial(c.config, guard(c.config.Allow))
		made.own.dialer, made.own.others = dial(c.config, unnamed(c.config))
	} else {
		made.own.dialer, made.own.others = c.own.dialer, c.own.others
		maps.Copy(made.own.servers, c.own.servers)
	}
	for _, a := range addresses {
		u, err := url.Parse(a)
		if err != nil || u.Hostname() == "" {
			continue
		}
		made.own.servers[server(u)] = true
		if u.Scheme == "http" && u.Port() == "" { // such servers redirect to https
			made.own.servers[server(&url.URL{Scheme: "https", Host: u.Host})] = true
		}
	}
	return made
}

// ports are the default ports of the schemes that options name servers by.
var ports = map[string]string{"http": "80", "https": "443", "ssh": "22", "git": "9418"}

// server returns the host and the port of an address in one spelling.
func server(u *url.URL) string {
	host := strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
	return net.JoinHostPort(host, cmp.Or(u.Port(), ports[u.Scheme]))
}

// owns reports whether a request may use the allowed private networks.
func (c *Client) owns(u *url.URL) bool { return c.own == nil || c.own.servers[server(u)] }

// unnamed returns the guard of all servers that options do not name.
func unnamed(c Config) control {
	strict, allowing := guard(nil), guard(c.Allow)
	return func(network, address string, conn syscall.RawConn) error {
		err := strict(network, address, conn)
		if err != nil && allowing(network, address, conn) == nil {
			return fmt.Errorf("%w; it is in a private network that is allowed to the servers that the source's options "+
				"name, and this one is not among them", err)
		}
		return err
	}
}

// control checks an address before a connection to it is made.
type control func(network, address string, c syscall.RawConn) error

// guard returns the control that refuses private networks but those allowed.
func guard(allow []netip.Prefix) control {
	var v4, v6 []netip.Prefix
	for _, p := range allow {
		if p.Addr().Is4() {
			v4 = append(v4, p)
		} else {
			v6 = append(v6, p)
		}
	}
	g := ssrf.New(ssrf.WithAnyPort(), ssrf.WithAllowedV4Prefixes(v4...), ssrf.WithAllowedV6Prefixes(v6...))
	return func(network, address string, c syscall.RawConn) error {
		if err := g.Safe(network, address, c); err != nil {
			return fmt.Errorf("%w: %w", ErrRefused, err)
		}
		return nil
	}
}

// maxHops is the maximum number of redirects.
const maxHops = 5

// parse parses the address of a request.
func parse(raw string) (*url.URL, error) {
	u, err := url.Parse(raw)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w: not a valid address", ErrRefused) // the parser's error contains it
	case !webaddress.Of(u):
		return nil, fmt.Errorf("%w: %s is neither http nor https, or has no host", ErrRefused, place(u))
	}
	return u, nil
}

// next returns the request that a redirect leads to, nil if the response is not
// a redirect. Only read requests follow redirects. The caller's header may hold
// a secret, so it is not sent to another host or from https to http.
func next(req *http.Request, resp *http.Response) (*http.Request, error) {
	switch resp.StatusCode {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect,
		http.StatusPermanentRedirect:
	default:
		return nil, nil
	}
	location := resp.Header.Get("Location")
	if location == "" || req.Method != http.MethodGet && req.Method != http.MethodHead {
		return nil, nil
	}
	to, err := req.URL.Parse(location)
	if err != nil {
		return nil, fmt.Errorf("%w: redirected to an invalid address", ErrRefused)
	}
	to.User, to.Fragment = nil, ""
	if to, err = parse(to.String()); err != nil {
		return nil, fmt.Errorf("redirected: %w", err)
	}
	follow := req.Clone(req.Context())
	follow.URL, follow.Host = to, ""
	if !strings.EqualFold(to.Host, req.URL.Host) || req.URL.Scheme == "https" && to.Scheme == "http" {
		for name := range follow.Header {
			if !ours[name] {
				follow.Header.Del(name)
			}
		}
	}
	return follow, nil
}

// ours are the header fields set by the client itself.
var ours = map[string]bool{"Accept": true, "User-Agent": true, "If-None-Match": true, "If-Modified-Since": true}
