package outbound

import (
	"context"
	"fmt"
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
	o := &once{client: c, transport: c.config.Transport}
	if o.transport == nil {
		// net/http resends a request when a kept connection turns out to be
		// closed, and on refused HTTP/2 streams: so each request gets its own
		// HTTP/1.1 connection.
		dialer := c.dialer
		if c.own != nil {
			dialer = c.own.dialer
		}
		t := connect(c.config, dialer)
		t.DisableKeepAlives = true
		t.Protocols = new(http.Protocols)
		t.Protocols.SetHTTP1(true)
		o.transport = t
	}
	return o
}

type once struct {
	client    *Client
	transport http.RoundTripper
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
	b, resp, err := o.client.send(o.transport, sent, o.client.config.MaxBody)
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
