package outbound

import (
	"context"
	"fmt"
	"net"
	"net/http"
)

// Once returns a transport for another library's http.Client, such as a client
// of remote tools, whose requests may change something: nothing is sent twice,
// neither by this package nor by net/http. A response of any status is returned
// unchanged.
//
// The client's guard, limits and slots apply. Timeout bounds a request from the
// wait for a slot to the end of its body, event streams included; reading more
// than MaxBody is ErrTooLarge. An http.Client around it follows at most five
// redirects, and only those that keep the method and do not leave https.
// Authorization and cookies are always removed.
func (c *Client) Once() http.RoundTripper {
	if c.config.Transport != nil {
		return &once{client: c, named: c.config.Transport, others: c.config.Transport}
	}
	o := &once{client: c, named: single(c.config, c.dialer)}
	o.others = o.named
	if c.own != nil {
		o.others = single(c.config, c.own.dialer)
	}
	return o
}

// single creates a transport that sends nothing again. net/http does when a kept
// connection turns out to be closed, and on refused HTTP/2 streams: so each request
// gets its own HTTP/1.1 connection.
func single(c Config, dialer *net.Dialer) *http.Transport {
	t := connect(c, dialer)
	t.DisableKeepAlives = true
	t.Protocols = new(http.Protocols)
	t.Protocols.SetHTTP1(true)
	return t
}

type once struct {
	client        *Client
	named, others http.RoundTripper // for servers that options name, and for all others
}

// RoundTrip implements http.RoundTripper.
func (o *once) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := o.exchange(req)
	if err != nil && req.Body != nil {
		_ = req.Body.Close() // required of RoundTrip, even if nothing was sent
	}
	return resp, err
}

func (o *once) exchange(req *http.Request) (*http.Response, error) {
	if err := permitted(req); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeoutCause(req.Context(), o.client.config.Timeout, ErrTimeout)
	sent := req.Clone(ctx)
	sent.Header.Del("Authorization")
	sent.Header.Del("Cookie")
	sent.Header.Set("User-Agent", o.client.config.UserAgent)
	by := o.others
	if o.client.stays(req) {
		by = o.named
	}
	b, resp, err := o.client.send(by, sent, o.client.config.MaxBody)
	if err != nil {
		cancel()
		return nil, err
	}
	release := b.release
	b.release = func() { release(); cancel() }
	context.AfterFunc(ctx, release)  // releases the slot even if the body is never closed
	resp.Body, resp.Request = b, req // permitted follows Request
	return resp, nil
}

// permitted checks the address of a request and the redirects before it, which
// http.Client records in the requests.
func permitted(req *http.Request) error {
	if _, err := parse(req.URL.String()); err != nil {
		return err
	}
	hops, to := 0, req
	for ; to.Response != nil && to.Response.Request != nil; hops++ {
		from := to.Response.Request
		switch {
		case hops == maxHops:
			return fmt.Errorf("%w: more than %d redirects", ErrRefused, maxHops)
		case to.Method != from.Method:
			return fmt.Errorf("%w: redirected with status %d, which turns %s into %s",
				ErrRefused, to.Response.StatusCode, from.Method, to.Method)
		case from.URL.Scheme == "https" && to.URL.Scheme == "http":
			return fmt.Errorf("%w: redirected from https to http", ErrRefused)
		}
		to = from
	}
	return nil
}

// stays reports whether a request may use the allowed private networks: it, and the
// redirects before it, went to a server that options name, and to no other.
func (c *Client) stays(req *http.Request) bool {
	host := req.URL.Hostname()
	for ; c.owns(req.URL) && req.URL.Hostname() == host; req = req.Response.Request {
		if req.Response == nil || req.Response.Request == nil {
			return true
		}
	}
	return false
}
