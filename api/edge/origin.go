package edge

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"almanac/api/op"
)

// Hosts returns a Check that passes only requests whose Host is a loopback name or
// address, or one of allowed (names, ports ignored): a foreign page that rebinds its
// name to 127.0.0.1 sends its own name. It is for loopback listeners.
func Hosts(allowed []string) func(*http.Request) error {
	names := map[string]bool{}
	for _, a := range allowed {
		names[hostname(a)] = true
	}
	return func(r *http.Request) error {
		if host := hostname(r.Host); !names[host] && !Loopback(host) {
			return &Refusal{Status: http.StatusForbidden,
				Message: "this listener is local: the Host header must be localhost or a configured name"}
		}
		return nil
	}
}

// Origins decides which pages may use an endpoint.
type Origins struct {
	allowed  map[string]bool
	any      bool
	loopback bool
}

// NewOrigins allows the given origins (https://kb.example.org; "*" is any)
// and, for a loopback listener, pages of this machine.
func NewOrigins(allowed []string, loopback bool) Origins {
	o := Origins{allowed: map[string]bool{}, loopback: loopback}
	for _, a := range allowed {
		o.any = o.any || a == "*"
		o.allowed[strings.ToLower(strings.TrimSuffix(a, "/"))] = true
	}
	return o
}

// Allow reports whether a request may pass: it has no Origin, so no page in a
// browser sends it, or one that is allowed.
func (o Origins) Allow(r *http.Request) bool {
	values := r.Header.Values("Origin")
	if len(values) == 0 || o.any {
		return true
	}
	if len(values) > 1 {
		return false
	}
	if o.allowed[strings.ToLower(values[0])] {
		return true
	}
	u, err := url.Parse(values[0])
	return err == nil && o.loopback && u.Host != "" && Loopback(hostname(u.Host)) &&
		isOrigin(values[0], u)
}

// Share lets pages of an allowed origin read an answer.
func (o Origins) Share(h http.Header, r *http.Request) {
	origin := r.Header.Get("Origin")
	if o.any {
		origin = "*"
	} else {
		h.Add("Vary", "Origin")
	}
	if origin == "" || !o.Allow(r) {
		return
	}
	h.Set("Access-Control-Allow-Origin", origin)
	h.Set("Access-Control-Expose-Headers",
		"ETag, Link, Retry-After, RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, "+op.RequestHeader)
}

// isOrigin reports whether an address is one that browsers send as Origin: scheme,
// host and port (RFC 6454 6.2).
func isOrigin(value string, u *url.URL) bool {
	return (u.Scheme == "http" || u.Scheme == "https") && strings.EqualFold(value, u.Scheme+"://"+u.Host)
}

// Loopback reports whether a host name or address is that of this machine.
func Loopback(host string) bool {
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}

// Local reports whether a request was made on this machine for whoever uses it: from a
// loopback address to a loopback name, and without what proxies say of whom they serve.
func Local(r *http.Request) bool {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil || !peer.Addr().Unmap().IsLoopback() || !Loopback(hostname(r.Host)) {
		return false
	}
	return !passedOn(r)
}

// hostname returns a Host header in lower case without port, brackets and final
// dot.
func hostname(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	return strings.ToLower(strings.TrimSuffix(host, "."))
}
