package crossencoder

import "net/http"

// SetTransport has the client send its requests by t, as within a bubble of
// testing/synctest.
func (c *Client) SetTransport(t http.RoundTripper) { c.server.HTTP().Transport = t }
