package outbound

import (
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"syscall"

	"code.dny.dev/ssrf"

	"almanac/text/webaddress"
)

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
