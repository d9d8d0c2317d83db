package remote

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"go.opentelemetry.io/otel/propagation"

	"almanac/text/webaddress"
)

const (
	defaultTimeout = time.Minute
	maxAnswer      = 64 << 20 // bytes
	maxMessage     = 16 << 10 // bytes read of an error response
)

// ClientConfig configures a Client.
type ClientConfig struct {
	// Name is the kind of server, used in messages.
	Name string
	// URL is the server's address, http or https. It may carry a user and
	// password; messages leave them out, and a query too.
	URL string
	// Key is sent as a bearer token; "" sends none.
	Key string
	// Timeout of one request; default one minute.
	Timeout time.Duration
}

// Client calls a server whose address the operator configured, so loopback and
// private networks are allowed. It follows no redirects, since keys and texts
// are for the configured host, and uses no proxy, whatever HTTP_PROXY says. Its
// errors are one sentence each, without keys.
type Client struct {
	name    string
	base    *url.URL
	http    *http.Client
	timeout time.Duration
}

// NewClient returns a client, or an error about the address. It sends nothing.
func NewClient(c ClientConfig) (*Client, error) {
	base, err := url.Parse(c.URL)
	if err != nil || !webaddress.Of(base) {
		shown := fmt.Sprintf("%q", c.URL)
		if strings.ContainsAny(c.URL, "@?") { // there may be secrets
			shown = "its address"
		}
		return nil, fmt.Errorf("%s: %s is not of the form http://host:port", c.Name, shown)
	}
	if c.Timeout == 0 {
		c.Timeout = defaultTimeout
	}
	base.Path = strings.TrimSuffix(base.Path, "/")
	client := &Client{name: c.Name, base: base, timeout: c.Timeout}
	client.http = &http.Client{Transport: transport{server: client.String(), key: c.Key, next: connections}}
	return client, nil
}

// connections is shared by all clients, so that a client that is dropped
// because its server is not the expected one leaves no connections open.
var connections = &http.Transport{
	DialContext:         (&net.Dialer{Timeout: 5 * time.Second}).DialContext,
	TLSHandshakeTimeout: 5 * time.Second,
	MaxIdleConnsPerHost: 8,
	IdleConnTimeout:     90 * time.Second,
	ForceAttemptHTTP2:   true,
}

// URL is the server's address.
func (c *Client) URL() *url.URL { return c.base }

// HTTP is the client for a library that needs one. It returns only successful
// responses: every other status is an error of the request.
func (c *Client) HTTP() *http.Client { return c.http }

// String names the server in messages.
func (c *Client) String() string {
	return c.name + " at " + (&url.URL{Scheme: c.base.Scheme, Host: c.base.Host, Path: c.base.Path}).String()
}

// Do runs one request under the timeout. Its error is an *Error or the error of ctx.
func (c *Client) Do(ctx context.Context, request func(context.Context) error) error {
	limited, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	return c.Explain(ctx, request(limited))
}

// JSON sends body as JSON, none if it is nil, to a path below the server's
// address and decodes the response, which must be JSON too.
func (c *Client) JSON(ctx context.Context, method, path string, body, answer any) error {
	return c.Do(ctx, func(ctx context.Context) error {
		var payload io.Reader
		if body != nil {
			raw, err := json.Marshal(body)
			if err != nil {
				return err
			}
			payload = bytes.NewReader(raw)
		}
		request, err := http.NewRequestWithContext(ctx, method, c.base.JoinPath(path).String(), payload)
		if err != nil {
			return err
		}
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set("Accept", "application/json")
		response, err := c.http.Do(request)
		if err != nil {
			return err
		}
		defer response.Body.Close()
		raw, err := io.ReadAll(response.Body)
		if err != nil {
			return err
		}
		return json.Unmarshal(raw, answer)
	})
}

// transport adds the key, bounds bodies and turns every unsuccessful status
// into an error, so that it is read in one place, whichever library sent the
// request.
type transport struct {
	server string // in messages
	key    string
	next   http.RoundTripper
}

func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("User-Agent", "almanac")
	// Without a value the header is not sent, but marks the request as safe to send
	// again if the server was closing the connection.
	r.Header["Idempotency-Key"] = nil
	propagation.TraceContext{}.Inject(r.Context(), propagation.HeaderCarrier(r.Header))
	if t.key != "" {
		r.Header.Set("Authorization", "Bearer "+t.key)
	}
	response, err := t.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if response.StatusCode/100 == 2 {
		response.Body = http.MaxBytesReader(nil, response.Body, maxAnswer)
		return response, nil
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxMessage))
	if err != nil { // the status says enough
		body = nil
	}
	return nil, t.refusal(response, body)
}
