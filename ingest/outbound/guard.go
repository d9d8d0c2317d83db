package outbound

import (
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"syscall"

	"code.dny.dev/ssrf"
)

// guard returns the check of an address before a connection is made to it.
func guard(allow []netip.Prefix) func(network, address string, c syscall.RawConn) error {
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

// maxHops is how many redirects are followed.
const maxHops = 5

// parse reads the address of a request.
func parse(raw string) (*url.URL, error) {
	u, err := url.Parse(raw)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w: not a valid address", ErrRefused) // the parser's text repeats it
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, fmt.Errorf("%w: %s is neither http nor https", ErrRefused, place(u))
	case u.Hostname() == "":
		return nil, fmt.Errorf("%w: %s names no host", ErrRefused, place(u))
	}
	return u, nil
}

// next makes the request a redirect leads to, nil if the answer is none. Only
// reading requests follow one. What the caller put in the header may be a
// secret, so it goes to no other host and not from https to http.
func next(req *http.Request, resp *http.Response) (*http.Request, error) {
	switch resp.StatusCode {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
	default:
		return nil, nil
	}
	location := resp.Header.Get("Location")
	if location == "" || req.Method != http.MethodGet && req.Method != http.MethodHead {
		return nil, nil
	}
	to, err := req.URL.Parse(location)
	if err != nil {
		return nil, fmt.Errorf("%w: redirected to no valid address", ErrRefused)
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

// ours are the header fields that the client itself sets.
var ours = map[string]bool{"Accept": true, "User-Agent": true, "If-None-Match": true, "If-Modified-Since": true}
